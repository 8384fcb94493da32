;; Nobody has tried this recipe yet. SimGrid is a package of the channel Guix-HPC, which must be in
;; ~/.config/guix/channels.scm. From the root of a checkout:
;;
;;   guix build -f packaging/guix/slackline.scm
(use-modules (gnu packages)
             (guix build-system cmake)
             (guix gexp)
             (guix git-download)
             ((guix licenses) #:prefix license:)
             (guix packages)
             (guix utils))

(define checkout
  (dirname (dirname (current-source-directory))))

(package
  (name "slackline")
  (version "0.1.0")
  (source (local-file checkout "slackline-checkout"
                      #:recursive? #t
                      #:select? (git-predicate checkout)))
  (build-system cmake-build-system)
  (arguments
   (list #:tests? #f                    ;they are not built
         #:configure-flags
         #~(list "-DSLACKLINE_TESTS=OFF"
                 "-DSLACKLINE_BENCH=OFF"
                 (string-append "-DSLACKLINE_PYTHON_PROGRAM="
                                (search-input-file %build-inputs "/bin/python3")))))
  (native-inputs
   (map specification->package
        (list "pkg-config" "python" "pybind11")))
  (inputs
   (map specification->package
        (list "asio" "boost" "cli11" "eigen" "libfabric" "nlohmann-json" "protozero" "rdma-core"
              "simgrid" "sqlite" "xxhash" "zlib")))
  ;; What the installed libraries need, and the package for Python.
  (propagated-inputs
   (map specification->package
        (list "fmt" "libsodium" "python-numpy" "tomlplusplus")))
  (home-page #f)
  (synopsis "Laboratory for RDMA schedules")
  (description
   "Slackline compiles a named pattern of communication, such as a multicast, to one dataflow graph
of sends, receives and copies.  It proves that graph, simulates and predicts its time on a network,
finds its slack, and carries it out for real.")
  (license license:asl2.0))
