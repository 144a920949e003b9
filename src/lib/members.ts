// Reading what strangers sent as JSON: members that are there or are not, and of the type that was hoped for or another.

/** The member at a path of a parsed document; undefined where something else stands. */
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

/** Undefined for an empty text too, which stands for no value. */
export function textOf(value: unknown, ...path: readonly (string | number)[]): string | undefined {
  const member = memberOf(value, ...path)
  return typeof member === 'string' && member !== '' ? member : undefined
}

/** Whether a flag is set, as 1 or as true. */
export function isSet(value: unknown, ...path: readonly (string | number)[]): boolean {
  const flag = memberOf(value, ...path)
  return flag === 1 || flag === true
}
