// Properties that a verb does not have. They are ignored, and the journal names them.

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, unknown>>
}

const maxNamed = 20

/** Returns paths such as `say.speed`. `allowed` has the properties common to all verbs. */
export function unknownProperties(
  schema: ObjectSchema,
  value: Readonly<Record<string, unknown>>,
  allowed: ReadonlySet<string> = new Set(),
): readonly string[] {
  const unknown: string[] = []
  collect(schema, value, '', allowed, unknown)
  return unknown
}

function collect(
  schema: ObjectSchema,
  value: object,
  prefix: string,
  allowed: ReadonlySet<string>,
  unknown: string[],
): void {
  const { properties } = schema
  // A schema without properties allows any: customer data, headers, vendor options.
  if (properties === undefined || (Object.keys(properties).length === 0 && prefix !== '')) return
  for (const [key, nested] of Object.entries(value)) {
    if (unknown.length >= maxNamed) return
    const part = Object.hasOwn(properties, key) ? properties[key] : undefined
    if (part !== undefined) {
      if (isObject(part) && isObject(nested)) collect(part, nested, `${prefix}${key}.`, new Set(), unknown)
    } else if (!allowed.has(key)) {
      unknown.push(`${prefix}${key}`.slice(0, 64))
    }
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
