// The members of a JSON Schema as a list for people: the members of an object follow it, with their path.

export interface MemberSchema {
  /** The name of a shape that several schemas share. It is shown once, in a place of its own. */
  readonly title?: string
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, MemberSchema>>
  readonly required?: readonly string[]
  readonly items?: MemberSchema
  readonly anyOf?: readonly MemberSchema[]
}

export interface Member<S> {
  /** A path such as `target[].auth.username`. */
  readonly path: string
  readonly schema: S
  readonly isRequired: boolean
}

export function membersOf<S extends MemberSchema>(schema: S): readonly Member<S>[] {
  // The schemas within a schema are of its own kind.
  return collect(schema, '') as readonly Member<S>[]
}

function collect(schema: MemberSchema, path: string): readonly Member<MemberSchema>[] {
  const { properties = {}, required = [], items, anyOf = [] } = schema
  const own = Object.entries(properties).flatMap(([name, member]) => {
    const place = path === '' ? name : `${path}.${name}`
    const isRequired = required.includes(name)
    return [{ path: place, schema: member, isRequired }, ...within(member, place)]
  })
  return [
    ...own,
    ...(items === undefined ? [] : within(items, `${path}[]`)),
    ...anyOf.flatMap((one) => within(one, path)),
  ]
}

function within(schema: MemberSchema, path: string): readonly Member<MemberSchema>[] {
  return schema.title === undefined && schema.$ref === undefined ? collect(schema, path) : []
}
