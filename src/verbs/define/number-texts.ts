// Numbers that applications send as text: "2" is accepted where the schema of a verb has a number.

interface Schema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

const numberText = /^\d{1,15}(\.\d{1,15})?$/

/** Returns the value, or a copy of it in which texts are converted where the schema has numbers. */
export function withNumbers(schema: Schema, value: unknown): unknown {
  if (typeof value === 'string') return takesNumber(schema) && numberText.test(value) ? Number(value) : value
  if (Array.isArray(value)) {
    const { items } = schema
    if (items === undefined) return value
    const members = value.map((member: unknown) => withNumbers(items, member))
    return members.some((member, index) => member !== value[index]) ? members : value
  }
  const { properties } = schema
  if (properties === undefined || typeof value !== 'object' || value === null) return value
  let copy: Record<string, unknown> | undefined
  for (const [name, member] of Object.entries(value)) {
    const part = Object.hasOwn(properties, name) ? properties[name] : undefined
    const converted = part === undefined ? member : withNumbers(part, member)
    // Most verbs need no copy, which takes as long as all other checks.
    if (converted !== member) (copy ??= { ...value })[name] = converted
  }
  return copy ?? value
}

/** Returns false for a union with any text: the text is meant. */
function takesNumber({ type, anyOf }: Schema): boolean {
  if (anyOf === undefined) return type === 'number' || type === 'integer'
  return anyOf.some(takesNumber) && anyOf.every((part) => part.type !== 'string' || 'const' in part)
}
