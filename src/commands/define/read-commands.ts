// The commands of a request, and whether they may be combined.
import type { AskedCommands, RunnableCommand } from '../../calls/command.ts'
import { AppError } from '../../lib/errors.ts'
import { notServed } from '../../lib/not-served.ts'
import type { Command } from './define-command.ts'
import { unservedCommands } from './unserved-commands.ts'

/** Puts commands that join others first. Throws AppError bad_request, or not_served naming the command. */
export function readList(asked: AskedCommands, commands: readonly Command[]): readonly RunnableCommand[] {
  const isGiven = (name: string): boolean => asked[name] !== undefined && asked[name] !== null
  for (const [name, cure] of Object.entries(unservedCommands)) if (isGiven(name)) throw notServed(name, cure)
  const given = commands.filter(({ name }) => isGiven(name))
  for (const command of commands) demandCompany(command, given, isGiven)
  for (const { value, name } of given) value.check?.(asked[name])
  return inOrder(given, commands).map((command) => {
    const more = Object.keys(command.additions).filter(isGiven)
    return command.prepare(asked[command.name], Object.fromEntries(more.map((name) => [name, asked[name]])))
  })
}

function inOrder(given: readonly Command[], commands: readonly Command[]): readonly Command[] {
  const [one, other, ...more] = given
  if (one === undefined || more.length > 0) throw notOne(commands)
  if (other === undefined) return [one]
  if (doesJoin(one, other)) return [one, other]
  if (doesJoin(other, one)) return [other, one]
  throw notOne(commands)
}

function doesJoin({ joins }: Command, { name }: Command): boolean {
  return joins === 'any' || joins.includes(name)
}

/** Throws unless an addition comes with its own command, and with no other that sets the same thing. */
function demandCompany(
  command: Command,
  given: readonly Command[],
  isGiven: (name: string) => boolean,
): void {
  const addition = Object.keys(command.additions).find(isGiven)
  if (addition === undefined) return
  const other = given.find((one) => one !== command && one.joins !== 'any')
  if (other !== undefined)
    throw new AppError('bad_request', `${addition} may not be sent together with ${other.name}`)
  if (!given.includes(command))
    throw new AppError('bad_request', `${addition} may be sent only together with ${command.name}`)
}

function notOne(commands: readonly Command[]): AppError {
  const joining = commands.flatMap(({ name, joins }) => (joins === 'any' ? [name] : []))
  const names = commands.map(({ name }) => name)
  return new AppError(
    'bad_request',
    `exactly one command is required, besides ${joining.join(', ')}: ${names.join(', ')}`,
  )
}
