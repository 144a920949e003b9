// The description of the commands for readers: the members of the body, and the allowed combinations.
import { Type } from '../../lib/type.ts'
import type { Command } from './define-command.ts'
import { unservedCommands } from './unserved-commands.ts'
import { json, type Value } from './values.ts'

/** A member of the body of a request. */
export interface CommandMember {
  readonly name: string
  readonly value: Value<unknown>
  readonly description: string
}

export function membersOf(commands: readonly Command[]): readonly CommandMember[] {
  const served = commands.flatMap(({ name, value, description, additions }) => [
    { name, value, description },
    ...Object.entries(additions).map(([addition, { value: more, description: words }]) => ({
      name: addition,
      value: more,
      description: `${words} Only together with \`${name}\`.`,
    })),
  ])
  const unserved = Object.entries(unservedCommands).map(([name, cure]) => ({
    name,
    value: json(Type.Unknown()),
    description: `Not served yet: refused. ${cure}`,
  }))
  return [...served, ...unserved]
}

/** Returns sentences about the commands that a request may have. */
export function rulesOf(commands: readonly Command[]): string {
  const names = commands.map(({ name }) => `\`${name}\``)
  const company = commands.flatMap(({ name, joins }) => {
    if (joins === 'any') return [` \`${name}\` may come together with one of the others.`]
    return joins.map((other) => ` \`${name}\` may come together with \`${other}\`.`)
  })
  return `Exactly one command with each request: ${names.join(', ')}.${company.join('')}`
}
