// The command sip_request: sends a request to the far end within the dialog, and returns its response to the client.
import { maxContentLength, toRequest, ownMethods, type OwnMethod } from '../calls/command.ts'
import { AppError } from '../lib/errors.ts'
import { defineCommand } from './define/define-command.ts'
import { json, type JsonSchema } from './define/values.ts'

interface Given {
  readonly method: OwnMethod
  readonly content_type: string
  readonly content: string
  readonly headers?: Readonly<Record<string, string | number>>
}

const schema: JsonSchema = {
  type: 'object',
  required: ['method', 'content_type', 'content'],
  properties: {
    method: {
      type: 'string',
      enum: ownMethods,
      description: 'A method that does not change the call itself.',
    },
    content_type: { type: 'string', maxLength: 256, description: 'What the content is, like `text/plain`.' },
    content: { type: 'string', maxLength: maxContentLength, description: 'The body; may be empty.' },
    headers: {
      type: 'object',
      maxProperties: 32,
      additionalProperties: { type: ['string', 'number'] },
      description: 'Headers of the request.',
    },
  },
}

export const sipRequest = defineCommand({
  name: 'sip_request',
  frame: 'sip:request',
  description: 'Sends a request to the far end. The reply has the status and the reason of its response.',
  example: { method: 'INFO', content_type: 'text/plain', content: 'order 7' },
  value: json<Given>(schema),
  needs: 'answered',
  ready({ content_type: contentType, ...given }, { leg }) {
    const { request, refused } = toRequest({ ...given, contentType })
    if (refused.length > 0)
      throw new AppError('bad_request', `sip_request: these headers may not be set: ${refused.join(', ')}`)
    leg.requests.demandRoom()
    return { outcome: `${given.method} to the far end`, request: () => leg.requests.send(request) }
  },
})
