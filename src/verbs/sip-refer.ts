// The verb sip:refer: requests that the far end make another call instead of this one.
import { Type } from '../lib/type.ts'
import { AppError } from '../lib/errors.ts'
import { defineVerb } from './define/define-verb.ts'
import { printable } from '../lib/printable.ts'
import { hookFor, optional, replacingTheRest } from './define/schemas.ts'

const line = (maxLength: number, description: string) =>
  Type.String({
    minLength: 1,
    maxLength,
    ...printable,
    description,
  })

/** The most statuses that wait for an answer of eventHook, as a far end may send many NOTIFY requests. */
const maxEvents = 16
const tooManyEvents = `no more than ${maxEvents} statuses wait for eventHook: those that come meanwhile are left out`

export const sipRefer = defineVerb({
  name: 'sip:refer',
  summary: 'Asks the far end of an answered call to call another one instead (REFER).',
  example: [
    { verb: 'answer' },
    {
      verb: 'sip:refer',
      referTo: '+15550123',
      eventHook: '/transfer-status',
      actionHook: '/referred',
    },
    { verb: 'hangup' },
  ],
  needs: 'answered',
  uses: ['referring', 'hooks', 'notes'],
  schema: Type.Object({
    referTo: line(
      1024,
      'The target of the new call: a URI, which is sent unchanged, or a number or a user, which is completed with the host of the far end: the SIP realm of a user, or the gateway of a carrier. A carrier gets only targets that CallDefence lets the account call, written as a plus and digits, as digits alone, or as a name with at most six digits, and without the headers of a URI.',
    ),
    referredBy: Type.Optional(
      line(
        1024,
        'The party that requests it (Referred-By): a URI, a number or a user. Default: the caller of this call.',
      ),
    ),
    referredByDisplayName: Type.Optional(line(255, 'The display name of that party.')),
    headers: optional.headers('Headers of the REFER.'),
    actionHook: Type.Optional(
      hookFor(
        `Sent at the end with \`refer_status\`, the response to the REFER, and \`final_referred_call_status\`, if the far end has reported the outcome of its call. ${replacingTheRest}`,
      ),
    ),
    eventHook: Type.Optional(
      hookFor(
        'Sent for each status of the call that the far end makes (NOTIFY), as `call_status`, with `event` `transfer-status`. Verbs of its answer run immediately, and replace this one and the rest.',
      ),
    ),
  }),
  async execute(options, { referring, hooks, notes, signal }) {
    const { referTo, referredBy, referredByDisplayName, headers = {}, actionHook, eventHook } = options
    let events = Promise.resolve()
    let waiting = 0
    const reported = (call_status: number): void => {
      if (eventHook === undefined) return
      if (waiting >= maxEvents) return
      waiting += 1
      if (waiting === maxEvents) notes.note(tooManyEvents)
      const fields = { event: 'transfer-status', call_status }
      events = events.then(() => hooks.event(eventHook, fields, signal)).finally(() => (waiting -= 1))
    }
    const request = {
      to: referTo,
      by: referredBy,
      byName: referredByDisplayName,
      headers,
      reported,
      signal,
    }
    try {
      const { status, final } = await referring.refer(request)
      await events
      if (actionHook === undefined) return status < 300 ? undefined : 'failed'
      const result = {
        refer_status: status,
        ...(final === undefined ? {} : { final_referred_call_status: final }),
      }
      await hooks.ask(actionHook, result, signal)
      return status < 300 ? undefined : 'failed'
    } catch (error) {
      if (!(error instanceof AppError) || signal.aborted) throw error
      notes.problem(error)
      if (actionHook !== undefined) await hooks.ask(actionHook, { err: error.message }, signal)
      return 'failed'
    }
  },
})
