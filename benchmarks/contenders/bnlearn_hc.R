# R bnlearn: hc with BDeu, or BDs and the marginal uniform prior (c = 1). Timed is hc() alone.
# Requests and answers as in worker.py.
suppressMessages(library(bnlearn))

requests <- file("stdin")
open(requests)
while (length(line <- readLines(requests, n = 1)) > 0) {
  fields <- strsplit(line, "\t", fixed = TRUE)[[1]]
  if (fields[1] == "load") {
    path <- file.path(fields[2], "codes.csv")
    head <- readLines(path, n = 2)
    names <- strsplit(head[1], ",", fixed = TRUE)[[1]]
    cards <- as.integer(strsplit(head[2], ",", fixed = TRUE)[[1]])
    codes <- matrix(scan(path, what = integer(), sep = ",", skip = 2, quiet = TRUE), ncol = length(names), byrow = TRUE)
    data <- as.data.frame(lapply(seq_along(names), function(i) {
      factor(codes[, i], levels = seq_len(cards[i]) - 1L)  # declared levels, observed or not
    }))
    colnames(data) <- names
    cat(sprintf("{\"loaded\": \"%s\", \"version\": \"%s\"}\n", fields[2], packageVersion("bnlearn")))
  } else {
    marginal <- fields[2] == "MU(c=1)+BDs(1)"
    if (!marginal && fields[2] != "BDeu(1)") stop("unknown objective: ", fields[2])
    start <- proc.time()[["elapsed"]]
    if (marginal) {
      dag <- hc(data, score = "bds", iss = 1, prior = "marginal", beta = 2 / (ncol(data) - 1))
    } else {
      dag <- hc(data, score = "bde", iss = 1)
    }
    seconds <- proc.time()[["elapsed"]] - start
    found <- arcs(dag)
    shown <- if (nrow(found)) paste(sprintf("[\"%s\", \"%s\"]", found[, 1], found[, 2]), collapse = ", ") else ""
    cat(sprintf("{\"seconds\": %.6f, \"arcs\": [%s]}\n", seconds, shown))
  }
  flush(stdout())
}
