// The parameters of a telephone number (RFC 3966 §3) that are sent to a carrier. A phone may add any parameters to the
// number that it calls. Some of them choose a carrier or a trunk, dial further after the answer, or claim that a number
// is verified.

export interface CleanNumber {
  readonly number: string
  /** The names of the parameters that were removed. */
  readonly dropped: readonly string[]
}

// These are checked together with the number. RFC 4694 §4: npdi says that the number was looked up, and rn is its
// routing number. An rn without a plus could mean anything.
const kept: readonly RegExp[] = [/^npdi$/i, /^rn=\+[\d\-.()]+$/i]
// A local number is meaningless without a context, and a global one does not need it.
const context = /^phone-context=[\w\-.+%]+$/i

export function cleanNumber(text: string): CleanNumber {
  const [number = '', ...params] = text.split(';')
  const wanted = number.startsWith('+') ? kept : [context, ...kept]
  // Only the first of each kind is kept, because no rule says which of two counts.
  const taken = wanted.flatMap((pattern) => params.find((param) => pattern.test(param)) ?? [])
  const dropped = params.filter((param) => !taken.includes(param)).map((param) => param.split('=')[0] ?? '')
  return { number: [number, ...taken].join(';'), dropped }
}
