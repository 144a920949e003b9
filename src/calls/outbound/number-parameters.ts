// The parameters of a telephone number (RFC 3966 §3) that a carrier is sent: a phone may write any into the number that it
// calls, and some of them choose a carrier or a trunk, dial on behind the answer, or say that a number is verified.

export interface CleanNumber {
  readonly number: string
  /** The names of the parameters that are left out. */
  readonly dropped: readonly string[]
}

// Each is judged with the number. RFC 4694 §4: that it has been looked up, and the number that it is routed by. Without a
// plus, that one could mean anything.
const kept: readonly RegExp[] = [/^npdi$/i, /^rn=\+[\d\-.()]+$/i]
// A local number means nothing without it; of a global one it says nothing.
const context = /^phone-context=[\w\-.+%]+$/i

export function cleanNumber(text: string): CleanNumber {
  const [number = '', ...params] = text.split(';')
  const wanted = number.startsWith('+') ? kept : [context, ...kept]
  // One of each: which one of two counts nothing says.
  const taken = wanted.flatMap((pattern) => params.find((param) => pattern.test(param)) ?? [])
  const dropped = params.filter((param) => !taken.includes(param)).map((param) => param.split('=')[0] ?? '')
  return { number: [number, ...taken].join(';'), dropped }
}
