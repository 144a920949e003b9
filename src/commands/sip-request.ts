// The command sip_request: sends a request to the far end within the dialog, and returns its response to the client.
import { maxContentLength, ownMethods, toRequest } from '../calls/command.ts'
import { AppError } from '../lib/errors.ts'
import { Type } from '../lib/type.ts'
import { defineCommand } from './define/define-command.ts'
import { headers, json } from './define/values.ts'

const schema = Type.Object({
  method: Type.Enum(ownMethods, {
    type: 'string',
    description: 'A method that does not change the call itself.',
  }),
  content_type: Type.String({ maxLength: 256, description: 'What the content is, like `text/plain`.' }),
  content: Type.String({ maxLength: maxContentLength, description: 'The body; may be empty.' }),
  headers: headers('Headers of the request.'),
})

export const sipRequest = defineCommand({
  name: 'sip_request',
  frame: 'sip:request',
  description: 'Sends a request to the far end. The reply has the status and the reason of its response.',
  example: { method: 'INFO', content_type: 'text/plain', content: 'order 7' },
  value: json(schema),
  needs: 'answered',
  ready({ content_type: contentType, ...given }, { leg }) {
    const { request, refused } = toRequest({ ...given, contentType })
    if (refused.length > 0)
      throw new AppError('bad_request', `sip_request: these headers may not be set: ${refused.join(', ')}`)
    leg.requests.demandRoom()
    return { outcome: `${given.method} to the far end`, request: () => leg.requests.send(request) }
  },
})
