// Commands of an application over WebSocket: under the name of a frame, either the value alone or the value under the
// command's name.
import { Ajv, type ValidateFunction } from 'ajv'
import type { AskedCommands, RunnableCommand } from '../../calls/command.ts'
import { AppError } from '../../lib/errors.ts'
import { notServed } from '../../lib/not-served.ts'
import { Type } from '../../lib/type.ts'
import type { Command } from './define-command.ts'
import { readList } from './read-commands.ts'
import { unservedFrames } from './unserved-commands.ts'
import type { Value } from './values.ts'

const url = Type.String({ minLength: 1, maxLength: 1024 })
const credential = Type.Optional(Type.Union([Type.String({ maxLength: 255 }), Type.Null()]))
const hookSchema = Type.Union([
  url,
  Type.Object({
    url,
    method: Type.Optional(Type.Enum(['GET', 'POST', 'WS'])),
    username: credential,
    password: credential,
  }),
])

/** Returns undefined if no command has this frame. Throws AppError bad_request, or not_served naming the frame. */
export function readFrameOf(
  frame: string,
  data: unknown,
  commands: readonly Command[],
): readonly RunnableCommand[] | undefined {
  const cure = unservedFrames.get(frame)
  if (cure !== undefined) throw notServed(frame, cure)
  const candidates = commands.filter((command) => command.frame === frame)
  const [only, ...others] = candidates
  if (only === undefined) return undefined
  const asked = namedIn(data, candidates) ?? (others.length === 0 ? { [only.name]: data } : undefined)
  if (asked === undefined) {
    const names = candidates.flatMap(({ name, additions }) => [name, ...Object.keys(additions)]).join(', ')
    const list = frame === 'redirect' ? 'a list of verbs, or ' : ''
    // Verbs are read before commands: calls/script/frame-verbs.ts.
    const own = frame === 'redirect' ? 'parent_call, child_call, ' : ''
    throw new AppError(
      'bad_request',
      `the data of ${frame} must be ${list}an object with one of these: ${own}${names}`,
    )
  }
  for (const [name, value] of Object.entries(asked)) demandValid(name, value, valueOf(name, candidates))
  return readList(asked, commands)
}

/** Returns the members that a command of the frame has. */
function namedIn(data: unknown, candidates: readonly Command[]): AskedCommands | undefined {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return undefined
  const known = new Set(candidates.flatMap(({ name, additions }) => [name, ...Object.keys(additions)]))
  const named = Object.entries(data).filter(([name]) => known.has(name))
  return named.length === 0 ? undefined : Object.fromEntries(named)
}

function valueOf(name: string, candidates: readonly Command[]): Value<unknown> | undefined {
  for (const command of candidates) {
    if (command.name === name) return command.value
    const addition = command.additions[name]
    if (addition !== undefined) return addition.value
  }
  return undefined
}

const validators = new WeakMap<object, ValidateFunction>()
const ajv = new Ajv({ verbose: true, strict: false, meta: false, validateSchema: false })

function demandValid(name: string, given: unknown, value: Value<unknown> | undefined): void {
  if (value === undefined) return
  if (value.form === 'words') {
    if (typeof given === 'string' && value.words.includes(given)) return
    throw new AppError('bad_request', `${name} must be one of: ${value.words.join(', ')}`)
  }
  const schema = value.form === 'hook' ? hookSchema : value.schema
  const validate = validators.get(schema) ?? ajv.compile(schema)
  validators.set(schema, validate)
  if (validate(given)) return
  const error = validate.errors?.[0]
  const rule = ruleIn(error?.parentSchema) ?? error?.message ?? 'is not valid'
  throw new AppError('bad_request', `${name}${(error?.instancePath ?? '').replaceAll('/', '.')} ${rule}`)
}

function ruleIn(schema: unknown): string | undefined {
  const rule = (schema as Readonly<Record<string, unknown>> | undefined)?.['x-rule']
  return typeof rule === 'string' ? rule : undefined
}
