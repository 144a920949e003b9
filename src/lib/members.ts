// Access to members of JSON from strangers, which may be missing or have another type than expected.

/** Returns the member at a path of a parsed document, or undefined. */
export function memberOf(value: unknown, ...path: readonly (string | number)[]): unknown {
  let member = value
  for (const name of path) {
    if (typeof member !== 'object' || member === null) return undefined
    member = (member as Readonly<Record<string | number, unknown>>)[name]
  }
  return member
}

export function listOf(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const member = memberOf(value, ...path)
  return Array.isArray(member) ? member : []
}

/** Returns undefined for an empty text too, which means no value. */
export function textOf(value: unknown, ...path: readonly (string | number)[]): string | undefined {
  const member = memberOf(value, ...path)
  return typeof member === 'string' && member !== '' ? member : undefined
}

/** Reports whether a flag is set, as 1 or as true. */
export function isSet(value: unknown, ...path: readonly (string | number)[]): boolean {
  const flag = memberOf(value, ...path)
  return flag === 1 || flag === true
}
