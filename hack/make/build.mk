##@ Build

# The servers are installed beside other projects' servers, so their programs
# carry the project's name; the other two are named as they are called.
PREFIXED_PROGRAMS := apiserver manager

.PHONY: build
build: ## Build every program of cmd/ into bin/.
	@mkdir -p bin; \
	for directory in cmd/*/; do \
		name=$$(basename "$$directory"); \
		case " $(PREFIXED_PROGRAMS) " in *" $$name "*) program=inference-cache-$$name ;; *) program=$$name ;; esac; \
		echo "go build -o bin/$$program ./cmd/$$name"; \
		go build -o "bin/$$program" "./cmd/$$name"; \
	done

.PHONY: clean
clean: ## Remove what the targets left in the tree.
	rm -rf bin
