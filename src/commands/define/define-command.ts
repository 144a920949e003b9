// The declaration of a command: its member of a request, its reference, its checks and its effect in one value.
import type { CommandNeeds, CommandTargets, ReadyCommand, RunnableCommand } from '../../calls/command.ts'
import type { Value } from './values.ts'

/** A member that is sent in addition to a command, and never alone. */
export interface Addition<T> {
  readonly value: Value<T>
  readonly description: string
}

export interface CommandDefinition<T, N extends CommandNeeds, M extends object> {
  /** The member of the body of PUT /Accounts/{sid}/Calls/{sid}. */
  readonly name: string
  /** Its frame for an application over WebSocket, which commands may share. */
  readonly frame: string
  /** For the reference page, which adds the required state. */
  readonly description: string
  readonly value: Value<T>
  /** An example for the reference page. A test parses it. */
  readonly example: NoInfer<T>
  /** The required state of the call. */
  readonly needs: N | ((value: T) => N)
  /** Returns the cure when the call is in another state, if that depends on the value. */
  readonly cure?: (value: T) => string
  /** True if it begins immediately, before waiting commands. */
  readonly isUrgent?: boolean
  /** The commands that it may be combined with, and begins before; otherwise it comes alone. */
  readonly joins?: readonly string[] | 'any'
  readonly additions?: { readonly [K in keyof M]: Addition<Exclude<M[K], undefined>> }
  /** Throws AppError if it is not possible now; then nothing has changed. */
  ready(value: T, target: CommandTargets[N], more: M): ReadyCommand
}

/** A command in the form that generic code uses. */
export interface Command {
  readonly name: string
  readonly frame: string
  readonly description: string
  readonly value: Value<unknown>
  readonly example: unknown
  readonly joins: readonly string[] | 'any'
  readonly additions: Readonly<Record<string, Addition<unknown>>>
  prepare(value: unknown, more: Readonly<Record<string, unknown>>): RunnableCommand
}

type NoAdditions = Readonly<Record<never, never>>

export function defineCommand<T, N extends CommandNeeds, M extends object = NoAdditions>(
  definition: CommandDefinition<T, N, M>,
): Command {
  const { name, frame, needs, isUrgent = false, joins = [], additions = {} } = definition
  const allAdditions = additions as Command['additions']
  return {
    name,
    frame,
    description: describe(definition),
    value: definition.value as Value<unknown>,
    example: definition.example,
    joins,
    additions: allAdditions,
    prepare(given, more) {
      // The schema of `value` has checked this type.
      const value = given as T
      const cure = definition.cure?.(value)
      const added = Object.entries(more).flatMap(([key, of]) => allAdditions[key]?.value.hooksIn?.(of) ?? [])
      return {
        name,
        isUrgent,
        hooks: [...(definition.value.hooksIn?.(value) ?? []), ...added],
        needs: typeof needs === 'function' ? needs(value) : needs,
        ...(cure === undefined ? {} : { cure }),
        // The runner has checked `needs`.
        ready: (target) => definition.ready(value, target as CommandTargets[N], more as M),
      }
    },
  }
}

const states: Readonly<Record<CommandNeeds, string>> = {
  nothing: '',
  answered: ' The call must be answered.',
  unanswered: ' The call must not be answered yet.',
  application:
    ' An application must run the call, or the call must be that of a user who calls another user. A leg that was dialled takes it from `child_call_hook` on.',
  stream: ' An audio server must hear the call.',
  transcription: ' The call must be transcribed.',
  audience: ' The call must talk with another one, or run the verb `listen`.',
  bridge: ' The call must talk with another one.',
  conference: ' The call must be in a conference, or wait for one.',
  company: ' The call must talk with another one, or be in a conference.',
}

function describe<T, N extends CommandNeeds, M extends object>({
  description,
  needs,
  example,
}: CommandDefinition<T, N, M>): string {
  const shown = ` For example \`${JSON.stringify(example)}\`.`
  return typeof needs === 'function' ? `${description}${shown}` : `${description}${states[needs]}${shown}`
}
