// Numbers that applications send as text: "2" is accepted where the schema of a verb has a number.

interface Schema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

/** Returns the value, or a copy of it in which texts are converted. */
type Convert = (value: unknown) => unknown

const numberText = /^\d{1,15}(\.\d{1,15})?$/

/** Returns a function that converts texts to numbers where the schema has numbers. */
export function createNumberReader(schema: Schema): Convert {
  return readerOf(schema) ?? ((value) => value)
}

/** Returns undefined for a schema without numbers: its values, of which there may be thousands, are not visited. */
function readerOf(schema: Schema): Convert | undefined {
  const { items, properties } = schema
  if (takesNumber(schema)) return readNumber
  const member = items && readerOf(items)
  if (member !== undefined)
    return (value) => {
      if (!Array.isArray(value)) return value
      const members = value.map(member)
      return members.some((converted, index) => converted !== value[index]) ? members : value
    }
  const readers = Object.entries(properties ?? {}).flatMap(([name, part]) => {
    const read = readerOf(part)
    return read === undefined ? [] : [[name, read] as const]
  })
  return readers.length === 0 ? undefined : (value) => readMembers(value, readers)
}

function readNumber(value: unknown): unknown {
  return typeof value === 'string' && numberText.test(value) ? Number(value) : value
}

function readMembers(value: unknown, readers: readonly (readonly [string, Convert])[]): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const given = value as Readonly<Record<string, unknown>>
  let copy: Record<string, unknown> | undefined
  for (const [name, read] of readers) {
    if (!Object.hasOwn(given, name)) continue
    const converted = read(given[name])
    // Most verbs need no copy, which takes as long as all other checks.
    if (converted !== given[name]) (copy ??= { ...given })[name] = converted
  }
  return copy ?? value
}

/** Returns false for a union with any text: the text is meant. */
function takesNumber({ type, anyOf }: Schema): boolean {
  if (anyOf === undefined) return type === 'number' || type === 'integer'
  return anyOf.some(takesNumber) && anyOf.every((part) => part.type !== 'string' || 'const' in part)
}
