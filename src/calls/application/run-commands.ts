// The one place where commands from outside begin: it checks what they need, and the journal says what was asked for.
import { AppError } from '../../lib/errors.ts'
import type { CommandNeeds, CommandReply, CommandTargets, ReadyCommand, RunnableCommand } from '../command.ts'
import { toDecision } from '../journal/decision.ts'
import type { Leg } from '../leg/leg.ts'
import { noteProblem } from '../leg/note-problem.ts'

/**
 * Begins the commands of one request. Throws AppError call_state, or bad_request for one that makes no sense, and then nothing
 * has changed.
 */
export async function runCommands(leg: Leg, commands: readonly RunnableCommand[]): Promise<CommandReply> {
  const ready = commands.map((command) => readyOn(leg, command))
  let reply: CommandReply = {}
  for (const { outcome, begin, request } of ready) {
    leg.journal.note(toDecision({ rule: 'api', outcome }))
    if (request === undefined) run(leg, begin)
    else reply = { response: await request() }
  }
  return reply
}

function readyOn(leg: Leg, command: RunnableCommand): ReadyCommand {
  const target = states[command.needs](leg)
  if (target === undefined) {
    const { sentence, cure } = missing[command.needs]
    throw new AppError('call_state', sentence, { cure: command.cure ?? cure })
  }
  try {
    return command.ready(target)
  } catch (error) {
    // Here a client of the API wrote the verbs.
    if (!(error instanceof AppError) || error.code !== 'hook_invalid_payload') throw error
    throw new AppError('bad_request', `${command.name}: ${error.message}`, { cause: error })
  }
}

function run(leg: Leg, begin: ReadyCommand['begin']): void {
  void begin()?.catch((error: unknown) => noteProblem(leg, error))
}

/** What a leg is to a command that needs this state; undefined when it is in another. */
const states: { readonly [N in CommandNeeds]: (leg: Leg) => CommandTargets[N] | undefined } = {
  nothing: (leg) => ({ leg }),
  answered: (leg) => (leg.isAnswered ? { leg } : undefined),
  unanswered: (leg) => (leg.isAnswered ? undefined : { leg }),
  application: (leg) => (leg.script === undefined ? undefined : { leg, script: leg.script }),
  bridge: (leg) => (leg.bridge === undefined ? undefined : { leg, bridge: leg.bridge }),
}

interface Missing {
  readonly sentence: string
  readonly cure: string
}

const missing: Readonly<Record<CommandNeeds, Missing>> = {
  nothing: { sentence: 'the call has ended', cure: 'Send commands to live calls.' },
  answered: {
    sentence: 'the call has not been answered',
    cure: 'Send it once call_status is in-progress.',
  },
  unanswered: { sentence: 'the call has been answered', cure: 'Send it before call_status is in-progress.' },
  application: {
    sentence: 'no application runs the call',
    cure: 'Wait until the call hook has answered. A leg that was dialled has no application: send the command to the call that dials, or make the leg a call of its own with child_call_hook.',
  },
  bridge: {
    sentence: 'the call is not bridged with another one',
    cure: 'Wait until the call talks with one that it has dialled, or that has dialled it: its journal then says bridged.',
  },
}
