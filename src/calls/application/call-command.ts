// The commands of the REST API on a live call: another script, an end, another tag.
import { AppError } from '../../lib/errors.ts'
import type { Leg } from '../leg/leg.ts'
import { toDecision } from '../journal/decision.ts'
import type { CallCommand } from '../calls.ts'
import type { Hook } from '../../contracts/hook.ts'

/** Begins the command; the journal says what became of it. Throws AppError call_state, and then nothing has changed. */
export function command(leg: Leg, asked: CallCommand): void {
  switch (asked.kind) {
    case 'redirect':
      return redirect(leg, asked.hook, asked.statusHook)
    case 'end':
      return end(leg, asked.call_status)
    case 'tag':
      note(leg, 'tag')
      leg.journal.add({ type: 'tagged', data: asked.data })
      return leg.journal.commit()
    default:
      return asked satisfies never
  }
}

function redirect(leg: Leg, hook: Hook, statusHook: Hook | undefined): void {
  const { script } = leg
  if (script === undefined) throw wrongState('no application runs the call yet')
  note(leg, 'another application')
  if (statusHook !== undefined) leg.status.replaceHook(statusHook)
  void script.takeOver(hook).catch((error: unknown) => leg.refuse(error))
}

/** A call that is not answered ends with no-answer, an answered one with completed. */
function end(leg: Leg, call_status: 'completed' | 'no-answer'): void {
  const possible = leg.isAnswered ? 'completed' : 'no-answer'
  if (call_status !== possible)
    throw wrongState(leg.isAnswered ? 'the call has been answered' : 'the call has not been answered')
  note(leg, call_status)
  void leg.hangUp()
}

function note(leg: Leg, outcome: string): void {
  leg.journal.note(toDecision({ rule: 'api', outcome }))
}

function wrongState(sentence: string): AppError {
  return new AppError('call_state', sentence)
}
