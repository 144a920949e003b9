// The verb sip:request: sends a request to the far end within the dialog.
import { Type } from '../lib/type.ts'
import { maxContentLength } from '../calls/verb.ts'
import { AppError } from '../lib/errors.ts'
import { defineVerb } from './define/define-verb.ts'
import { hookFor, optional, replacingTheRest } from './define/schemas.ts'

export const sipRequest = defineVerb({
  name: 'sip:request',
  summary: 'Sends a SIP request within the dialog of the call.',
  example: [
    { verb: 'answer' },
    {
      verb: 'sip:request',
      method: 'INFO',
      headers: { 'Content-Type': 'application/json' },
      body: '{"order":7}',
      actionHook: '/sent',
    },
  ],
  needs: 'answered',
  uses: ['requests', 'hooks', 'notes'],
  schema: Type.Object({
    method: Type.Union(
      [Type.Literal('INFO'), Type.Literal('MESSAGE'), Type.Literal('NOTIFY'), Type.Literal('OPTIONS')],
      { description: 'A method that does not change the call itself.' },
    ),
    headers: optional.headers(
      'Headers of the request; Content-Type says what the body is. Default text/plain.',
    ),
    body: Type.Optional(
      Type.String({
        maxLength: maxContentLength - 1,
        description: 'The body; a line feed is added to it.',
      }),
    ),
    actionHook: Type.Optional(
      hookFor(`Sent when the far end has responded, or has failed to. ${replacingTheRest}`),
    ),
  }),
  async execute({ method, headers, body, actionHook }, { requests, hooks, notes, signal }) {
    let result: Record<string, unknown>
    try {
      const asked = {
        method,
        ...(headers === undefined ? {} : { headers }),
        ...(body === undefined ? {} : { content: `${body}\n` }),
      }
      const { status } = await requests.send(asked, signal)
      result = { result: 'success', sip_status: status }
    } catch (error) {
      if (!(error instanceof AppError) || signal.aborted) throw error
      notes.problem(error)
      result = { result: 'failed', err: error.message }
    }
    if (actionHook !== undefined) await hooks.ask(actionHook, result, signal)
  },
})
