// One request to a vendor before its socket is opened.
import { AppError } from '../../lib/errors.ts'
import type { Outgoing, OutgoingRequest } from '../../outgoing/outgoing.ts'
import { vendorRefusal } from '../../outgoing/vendor-failure.ts'

const timeoutMs = 5000
const maxBodyBytes = 64 * 1024

export interface VendorQuestion extends Pick<OutgoingRequest, 'url' | 'headers' | 'body'> {
  readonly vendor: string
}

/** Returns the body of a good response. Throws AppError: recognition_failed if another try would fail, too. */
export async function askVendor(outgoing: Outgoing, { vendor, ...request }: VendorQuestion): Promise<Buffer> {
  const answer = await outgoing.request({
    ...request,
    method: 'POST',
    subject: vendor,
    answerTimeoutMs: timeoutMs,
    totalTimeoutMs: timeoutMs,
    maxBodyBytes,
  })
  const { status, body } = answer
  if (status >= 200 && status < 300) return body
  const contentType = String(answer.headers['content-type'] ?? '').toLowerCase()
  const refusal = vendorRefusal('speech_failed', { vendor, status, contentType, body, secrets: [] })
  throw new AppError(status >= 500 ? 'hook_unreachable' : 'recognition_failed', refusal.message)
}
