// Makes real requests and responses the same in every run, and fit to be shown: ids become numbers in the order in
// which they first occur, and credentials become a word.

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

const shown: Readonly<Record<string, string>> = {
  token: 'THE-TOKEN',
  jwt: 'THE-TOKEN',
  webhook_secret: 'wh_secret_XXXXXXXXXXXXXXXXXXXXXX',
  hash: '0'.repeat(64),
  previous_hash: '0'.repeat(64),
  token_prefix: 'a62b5d',
  traceId: '0'.repeat(32),
  spanId: '0'.repeat(16),
  parentSpanId: '0'.repeat(16),
}

export interface Steady {
  /** Returns the value to show. A list keeps its first member, by an order that does not depend on ids. */
  toShown(value: unknown): unknown
}

export function createSteady(): Steady {
  const numbers = new Map<string, number>()
  const numberOf = (id: string): number => {
    const known = numbers.get(id) ?? numbers.size + 1
    numbers.set(id, known)
    return known
  }
  const toText = (text: string): string =>
    text.replace(uuid, (id) => `00000000-0000-4000-8000-${String(numberOf(id)).padStart(12, '0')}`)
  /** Returns the sort key of a member: ids that have not occurred yet count as empty. */
  const keyOf = (member: unknown): string =>
    JSON.stringify(member).replace(uuid, (id) => String(numbers.get(id) ?? ''))

  function toShown(value: unknown): unknown {
    if (typeof value === 'string') return toText(value)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) {
      const members = value as readonly unknown[]
      const [first] = members.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
      return first === undefined ? [] : [toShown(first)]
    }
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        typeof member === 'string' ? (shown[name] ?? toText(member)) : toShown(member),
      ]),
    )
  }
  return { toShown }
}
