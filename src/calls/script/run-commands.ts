// The one place where commands from outside begin. It checks the state that they need, and the journal gets each in the
// order in which they began.
import { AppError } from '../../lib/errors.ts'
import type { CommandNeeds, CommandTargets, ReadyCommand, RunnableCommand } from './command.ts'
import { toDecision } from '../journal/decision.ts'
import type { Leg } from '../leg/leg.ts'
import { noteProblem } from '../leg/note-problem.ts'
import { isPath, type HookForm } from '../verb/hook-form.ts'
import { callIsOver, type Letter, type Opened } from '../session/mailbox.ts'
import type { CommandReply } from '../session/session.ts'

/**
 * Returns the commands of one request to a leg as a letter. If one of them is invalid or comes at the wrong time, none
 * begins.
 */
export function toLetter(
  leg: Leg,
  commands: readonly RunnableCommand[],
  by: 'api' | 'application' = 'api',
): Letter<CommandReply> {
  return {
    to: leg,
    isUrgent: commands.some(({ isUrgent }) => isUrgent),
    open() {
      if (leg.hasEnded) throw callIsOver()
      const ready = commands.map((command) => readyOn(leg, command))
      const begun = ready.map((one) => begin(leg, one, by))
      return {
        reply: replyOf(begun.flatMap(({ reply }) => reply ?? [])),
        applied: Promise.all(begun.flatMap(({ applied }) => applied ?? [])),
      }
    },
  }
}

/** Returns the reply of the one command that has one. */
async function replyOf([reply]: readonly Promise<CommandReply>[]): Promise<CommandReply> {
  return reply === undefined ? {} : await reply
}

function begin(leg: Leg, ready: ReadyCommand, rule: 'api' | 'application'): Partial<Opened<CommandReply>> {
  leg.journal.note(toDecision({ rule, outcome: ready.outcome }))
  if ('request' in ready) return { reply: ready.request().then((response) => ({ response })) }
  const work = Promise.resolve('apply' in ready ? ready.apply() : ready.start())
  const noted = work.catch((error: unknown) => noteProblem(leg, error))
  return 'apply' in ready ? { applied: noted } : {}
}

function readyOn(leg: Leg, command: RunnableCommand): ReadyCommand {
  const target = states[command.needs](leg)
  if (target === undefined) {
    const { sentence, cure } = missing[command.needs]
    throw new AppError('call_state', sentence, { cure: command.cure ?? cure })
  }
  for (const hook of command.hooks ?? []) demandAddress(leg, command, hook)
  try {
    return command.ready(target)
  } catch (error) {
    // Here the verbs were written by a client of the API, not by a hook.
    if (!(error instanceof AppError) || error.code !== 'hook_invalid_payload') throw error
    throw new AppError('bad_request', `${command.name}: ${error.message}`, { cause: error })
  }
}

/** Throws if a hook is a path, and the verbs came from app_json and have no URL. */
function demandAddress({ session }: Leg, { name }: RunnableCommand, hook: HookForm): void {
  if (!isPath(hook) || (session.script !== undefined && !isPath(session.script.hookOf(hook)))) return
  throw new AppError(
    'call_state',
    `${name}: the verbs of the call did not come from a URL that a path could be resolved against`,
    {
      cure: 'Send the hook as an absolute URL.',
    },
  )
}

/** The target for each required state, or undefined if the leg is in another. */
const states: { readonly [N in CommandNeeds]: (leg: Leg) => CommandTargets[N] | undefined } = {
  nothing: (leg) => ({ leg }),
  answered: (leg) => (leg.isAnswered ? { leg } : undefined),
  unanswered: (leg) => (leg.isAnswered ? undefined : { leg }),
  application: (leg) => (leg.script === undefined ? undefined : { leg, script: leg.script }),
  stream: (leg) => (leg.streams.isOpen ? { leg } : undefined),
  transcription: (leg) => (leg.ears.isOpen ? { leg } : undefined),
  audience(leg) {
    const whisper = leg.bridge?.whisper ?? leg.streams.whisper
    return whisper === undefined ? undefined : { leg, whisper }
  },
  bridge: (leg) => (leg.bridge === undefined ? undefined : { leg, bridge: leg.bridge }),
  conference: (leg) => (leg.member === undefined ? undefined : { leg, member: leg.member }),
  company(leg) {
    const company = companyOf(leg)
    return company === undefined ? undefined : { leg, company }
  },
}

/** Returns where others hear the leg. */
function companyOf({ occupation }: Leg): CommandTargets['company']['company'] | undefined {
  switch (occupation.kind) {
    case 'talk':
      return occupation.bridge
    case 'room':
      return occupation.member
    case 'none':
    case 'ringing':
    case 'queue':
      return undefined
    default:
      return occupation satisfies never
  }
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
  stream: {
    sentence: 'no audio server hears the call',
    cure: 'Send it to a call with listen, or with a dial that has it: its journal then says stream-opened.',
  },
  transcription: {
    sentence: 'the call is not transcribed',
    cure: 'Send it to a call with transcribe, in `config` or in a `dial` too: its journal then says recognition-started.',
  },
  audience: {
    sentence: 'the call neither talks with another one nor runs the verb listen',
    cure: 'Wait until its journal says bridged, or stream-opened.',
  },
  bridge: {
    sentence: 'the call is not bridged with another one',
    cure: 'Wait until the call talks with one that it has dialled, or that has dialled it: its journal then says bridged.',
  },
  conference: {
    sentence: 'the call is not in a conference',
    cure: 'Wait until its verb conference runs: its journal then says room-joined, or room-waiting.',
  },
  company: {
    sentence: 'the call is neither bridged with another one nor in a conference',
    cure: 'Wait until its journal says bridged or room-joined.',
  },
}
