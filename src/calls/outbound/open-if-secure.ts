// The TLS connection to a place, opened before an INVITE is sent there.
import { AppError } from '../../lib/errors.ts'
import type { Remote } from '../../sip/sip.ts'
import type { OutboundNeeds } from './needs.ts'

/** Returns an AppError. Throws any other error again. */
export function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  throw error
}

/** Opens a TLS connection first, so that an untrusted certificate is reported as the reason. Returns the failure. */
export async function openIfSecure(
  remote: Remote,
  { sip, clock }: Pick<OutboundNeeds, 'sip' | 'clock'>,
  patienceMs: number | undefined,
): Promise<AppError | undefined> {
  if (remote.name === undefined) return undefined
  const opened = sip()
    .open(remote)
    .then(() => undefined, asAppError)
  if (patienceMs === undefined) return opened
  const late = new AppError('sip_unreachable', 'the far end cannot be reached over TLS in time')
  const { promise, resolve } = Promise.withResolvers<AppError>()
  const timer = clock.after(patienceMs, () => resolve(late))
  return Promise.race([opened, promise]).finally(() => timer.cancel())
}
