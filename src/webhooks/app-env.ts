// The variables that an application publishes, checked and compared with the values that an account sets.

export type VariableType = 'string' | 'number' | 'boolean'

/** One variable as the application publishes it; further members are for a portal that shows a form. */
export interface AppVariable {
  readonly type: VariableType
  readonly description: string
  readonly required?: boolean
  readonly enum?: readonly unknown[]
  readonly [more: string]: unknown
}

export type AppEnvSchema = Readonly<Record<string, AppVariable>>

export type PublishedEnv =
  | { readonly outcome: 'schema'; readonly schema: AppEnvSchema }
  /** The application cannot be reached, or publishes no schema. */
  | { readonly outcome: 'none' }
  | { readonly outcome: 'invalid'; readonly fault: string }

export interface AppEnv {
  /**
   * Returns the schema that the application publishes. Throws overloaded, account_share, or the signal's reason; any
   * other failure counts as an application that publishes none.
   */
  ask(url: string, signal?: AbortSignal): Promise<PublishedEnv>
}

const types: ReadonlySet<unknown> = new Set<VariableType>(['string', 'number', 'boolean'])
const variableName = /^[a-zA-Z0-9_]+$/

/** Returns the fault of a published schema, or undefined if there is none. */
export function schemaFault(published: unknown): string | undefined {
  if (!isObject(published)) return 'the application did not publish a JSON object'
  const variables = Object.entries(published)
  if (variables.length === 0) return 'the application published no variable'
  for (const [name, variable] of variables) {
    if (!variableName.test(name)) return `the variable ${shown(name)} is not made of letters, digits and _`
    const fault = variableFault(variable)
    if (fault !== undefined) return `the variable ${shown(name)} ${fault}`
  }
  return undefined
}

function variableFault(variable: unknown): string | undefined {
  if (!isObject(variable)) return 'is not an object'
  const { type, description, required, default: fallback, enum: choices, obscure } = variable
  if (!types.has(type)) return 'needs a type: string, number or boolean'
  if (typeof description !== 'string') return 'needs a description'
  if (required !== undefined && typeof required !== 'boolean')
    return 'has a required that is not true or false'
  if (fallback !== undefined && !types.has(typeof fallback))
    return 'has a default that is not text, a number, true or false'
  if (choices !== undefined && !Array.isArray(choices)) return 'has an enum that is not a list'
  if (obscure !== undefined && typeof obscure !== 'boolean') return 'has an obscure that is not true or false'
  return undefined
}

/**
 * Returns the fault of the values that an account sets, or undefined. An account may also set values that the
 * application does not publish.
 */
export function valuesFault(
  schema: AppEnvSchema,
  values: Readonly<Record<string, unknown>>,
): string | undefined {
  for (const [name, { type, required, enum: choices }] of Object.entries(schema)) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value === undefined || value === null) {
      if (required === true) return `${name} is required by the application`
      continue
    }
    if (typeof value !== type) return `${name} must be ${typeNames[type]}`
    if (choices !== undefined && !choices.includes(value))
      return `${name} must be one of ${shown(choices.map((choice) => JSON.stringify(choice)).join(', '))}`
  }
  return undefined
}

const typeNames: Readonly<Record<VariableType, string>> = {
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns text of the other side in a form that fits into a sentence. */
function shown(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')
  return plain.length > 100 ? `${plain.slice(0, 100)}...` : plain
}
