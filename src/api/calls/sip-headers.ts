// Headers that a client adds to an INVITE.
import { toHeaderFields } from '../../calls/application/app-headers.ts'
import type { CallRequest } from '../../calls/calls.ts'
import { AppError } from '../../lib/errors.ts'
import type { JsonSchema } from '../define/field.ts'

export const headersSchema: JsonSchema = {
  type: 'object',
  maxProperties: 32,
  additionalProperties: { type: ['string', 'number'] },
  description: 'Added to the INVITE. Those that carry the call itself, like Via and Contact, may not be set.',
}

/** Throws AppError bad_request, which names the header that may not be set, or not to this value. */
export function toSipHeaders(
  headers: Readonly<Record<string, unknown>> | undefined,
  field: string,
): CallRequest['headers'] {
  const { fields, refused } = toHeaderFields(headers)
  const [first] = refused
  if (first !== undefined)
    throw new AppError(
      'bad_request',
      `${field}: ${JSON.stringify(first)} may not be set, or not to this value`,
    )
  return fields
}
