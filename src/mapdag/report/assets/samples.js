// Estimated probabilities, where exact ones are too much for a page: shares of those samples that agree with the evidence.

/** Read the samples of a node: as many bits each as its levels need. */
function unpack(text, bits, rows) {
  const bytes = atob(text), codes = new Uint32Array(rows);
  for (let row = 0, at = 0; row < rows; row += 1) {
    for (let k = 0; k < bits; k += 1, at += 1) codes[row] = codes[row] * 2 + ((bytes.charCodeAt(at >> 3) >> (7 - (at & 7))) & 1);
  }
  return codes;
}

/** As `junction`, from samples; `matching` is how many agree with the evidence, and with fewer than `least` nothing is said. */
export function sampling(cards, samples, rows, least = 50) {
  const codes = samples.map((text, i) => unpack(text, Math.max(1, Math.ceil(Math.log2(cards[i]))), rows));
  return (evidence) => {
    const agreeing = [];
    for (let row = 0; row < rows; row += 1) {
      if ([...evidence].every(([node, level]) => codes[node][row] === level)) agreeing.push(row);
    }
    const matching = agreeing.length, log = Math.log(matching / rows);
    if (matching < least) return { log, matching, marginals: null };
    const marginals = codes.map((own, i) => {
      const counts = new Float64Array(cards[i]);
      for (const row of agreeing) counts[own[row]] += 1;
      return counts.map((count) => count / matching);
    });
    return { log, matching, marginals };
  };
}
