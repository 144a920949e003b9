// The Kaiser window, which limits a filter to its length.

/** Returns the window at `t`, which runs from -1 to 1; outside it is 0. */
export function kaiser(t: number, beta: number): number {
  const edge = 1 - t ** 2
  return edge <= 0 ? 0 : bessel(beta * Math.sqrt(edge)) / bessel(beta)
}

/** The zeroth-order modified Bessel function. */
function bessel(x: number): number {
  let sum = 1
  let term = 1
  for (let k = 1; k < 40 && term > 1e-10 * sum; k += 1) {
    term *= (x / (2 * k)) ** 2
    sum += term
  }
  return sum
}
