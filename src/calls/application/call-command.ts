// The commands of the REST API on a live call: another script, an end, another tag, and what changes for a bridged leg.
import { AppError } from '../../lib/errors.ts'
import type { Leg } from '../leg/leg.ts'
import type { LegBridge } from '../leg/leg-options.ts'
import type { OwnRequestOutcome } from '../leg/leg-requests.ts'
import { noteProblem } from '../leg/note-problem.ts'
import { toDecision } from '../journal/decision.ts'
import type { CallCommand, PlainCommand } from '../calls.ts'
import type { Hook } from '../../contracts/hook.ts'
import { toRequest } from './app-requests.ts'
import type { AskedRequest } from './app-requests.ts'

/**
 * Begins the command; the journal says what became of it. Throws AppError call_state, or bad_request for a whisper that makes
 * no sense, and then nothing has changed.
 */
export function command(leg: Leg, asked: CallCommand): void {
  if (asked.kind !== 'whisper') return ready(leg, asked)()
  const other = asked.besides === undefined ? undefined : ready(leg, asked.besides)
  const bridge = bridgeOf(leg)
  beside(leg, 'whisper', () => bridge.whisper(asked.verbs))()
  other?.()
}

/** Throws what forbids the command now. Returns what begins it. */
function ready(leg: Leg, asked: PlainCommand): () => void {
  switch (asked.kind) {
    case 'redirect':
      return redirect(leg, asked.hook, asked.statusHook)
    case 'end':
      return end(leg, asked.call_status)
    case 'tag':
      return () => {
        note(leg, 'tag')
        leg.journal.add({ type: 'tagged', data: asked.data })
        leg.journal.commit()
      }
    case 'mute': {
      const bridge = bridgeOf(leg)
      return () => {
        note(leg, asked.isMuted ? 'mute' : 'unmute')
        begin(leg, bridge.mute(asked.isMuted))
      }
    }
    case 'dtmf':
      if (!leg.isAnswered)
        throw wrongState('the call has not been answered', 'Send keys once call_status is in-progress.')
      return () => {
        note(leg, 'keys')
        begin(leg, leg.keys.press(asked.digits, asked.durationMs))
      }
    case 'dub': {
      const run = (leg.script ?? leg.bridge)?.beside
      if (run === undefined || !leg.isAnswered)
        throw wrongState('the call has not been answered', 'Send tracks once call_status is in-progress.')
      return beside(leg, 'dub', () => run({ ...asked.options, verb: 'dub' }, dubbing))
    }
    case 'boost':
      if (!leg.isAnswered)
        throw wrongState('the call has not been answered', 'Send the gain once call_status is in-progress.')
      return () => {
        note(leg, 'gain')
        begin(leg, leg.media.sound.boost(asked.gainDb))
      }
    case 'part':
      return part(leg, asked.child, asked.parent)
    default:
      return asked satisfies never
  }
}

/** Resolves with the response of the far end. Throws AppError when nothing was sent: a header that may not be set is named. */
export async function sendRequest(leg: Leg, asked: AskedRequest): Promise<OwnRequestOutcome> {
  const { request, refused } = toRequest(asked)
  if (refused.length > 0)
    throw new AppError('bad_request', `sip_request: these headers may not be set: ${refused.join(', ')}`)
  const responded = leg.requests.send(request)
  if (leg.isAnswered) note(leg, `${asked.method} to the far end`)
  return responded
}

function bridgeOf({ bridge }: Leg): LegBridge {
  if (bridge === undefined) throw wrongState('the call is not bridged with another one', cures.bridge)
  return bridge
}

/** What fails later is written to the journal. */
function begin(leg: Leg, work: Promise<void>): void {
  void work.catch((error: unknown) => noteProblem(leg, error))
}

const dubbing: ReadonlySet<string> = new Set(['dub'])

/** Throws bad_request for verbs that make no sense. Returns what begins them. */
function beside(leg: Leg, name: 'whisper' | 'dub', read: () => () => Promise<void>): () => void {
  try {
    const start = read()
    return () => {
      note(leg, name)
      begin(leg, start())
    }
  } catch (error) {
    // Here a client of the API wrote the verbs.
    if (!(error instanceof AppError) || error.code !== 'hook_invalid_payload') throw error
    throw new AppError('bad_request', `${name}: ${error.message}`, { cause: error })
  }
}

function part(leg: Leg, child: Hook, parent: Hook | undefined): () => void {
  const bridge = bridgeOf(leg)
  const redirected = parent === undefined ? undefined : redirect(leg, parent, undefined)
  return () => {
    redirected?.()
    note(leg, 'the called side becomes a call of its own')
    bridge.part(child)
  }
}

function redirect(leg: Leg, hook: Hook, statusHook: Hook | undefined): () => void {
  const { script } = leg
  if (script === undefined) throw wrongState('no application runs the call', cures.script)
  return () => {
    note(leg, 'another application')
    if (statusHook !== undefined) leg.status.replaceHook(statusHook)
    const because = 'a client of the REST API sent another application'
    void script.takeOver(hook, because).catch((error: unknown) => leg.refuse(error))
  }
}

/** A call that is not answered ends with no-answer, an answered one with completed. */
function end(leg: Leg, call_status: 'completed' | 'no-answer'): () => void {
  const possible = leg.isAnswered ? 'completed' : 'no-answer'
  if (call_status !== possible)
    throw wrongState(
      leg.isAnswered ? 'the call has been answered' : 'the call has not been answered',
      `Send call_status ${possible}.`,
    )
  return () => {
    note(leg, call_status)
    void leg.hangUp({ because: `a client of the REST API ended it with call_status ${call_status}` })
  }
}

function note(leg: Leg, outcome: string): void {
  leg.journal.note(toDecision({ rule: 'api', outcome }))
}

const cures = {
  bridge:
    'Wait until the call talks with one that it has dialled, or that has dialled it: its journal then says bridged.',
  script:
    'Wait until the call hook has answered. A leg that was dialled has no application: send the command to the call that dials, or make the leg a call of its own with child_call_hook.',
} as const

function wrongState(sentence: string, cure: string): AppError {
  return new AppError('call_state', sentence, { cure })
}
