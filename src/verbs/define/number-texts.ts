// Numbers that applications send as text: "2" is accepted where the schema of a verb has a number.

interface Schema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

const numberText = /^\d{1,15}(\.\d{1,15})?$/

/** Returns a copy with texts converted where the schema has numbers. */
export function withNumbers(schema: Schema, value: unknown): unknown {
  if (typeof value === 'string') return takesNumber(schema) && numberText.test(value) ? Number(value) : value
  if (Array.isArray(value)) {
    const { items } = schema
    return items === undefined ? value : value.map((member: unknown) => withNumbers(items, member))
  }
  const { properties } = schema
  if (properties === undefined || typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]: [string, unknown]) => {
      const part = Object.hasOwn(properties, name) ? properties[name] : undefined
      return [name, part === undefined ? member : withNumbers(part, member)]
    }),
  )
}

/** Returns false for a union with any text: the text is meant. */
function takesNumber({ type, anyOf }: Schema): boolean {
  if (anyOf === undefined) return type === 'number' || type === 'integer'
  return anyOf.some(takesNumber) && anyOf.every((part) => part.type !== 'string' || 'const' in part)
}
