// A recording session that comes in (RFC 7866 §8): the platform is its recording server, and an application hears it.
import { AppError } from '../../lib/errors.ts'
import type { SipRequest } from '../../sip/message/message.ts'
import { requires } from '../../sip/message/session-expires.ts'
import type { IncomingInvite } from '../../sip/sip.ts'
import { partiesSentence, recordedParties } from '../siprec/recorded-parties.ts'
import type { RecordedParties } from '../siprec/recorded-parties.ts'
import type { Leg } from '../leg/leg.ts'
import type { OwnedIdentity } from './identity.ts'

/** What came, or why it cannot be read: a refusal has a record too. */
export type RecordingArrival =
  | { readonly kind: 'read'; readonly parties: RecordedParties }
  | { readonly kind: 'unreadable'; readonly error: AppError }

/** What an application may do with a call that it only hears. */
export const recordingVerbs: ReadonlySet<string> = new Set([
  'answer',
  'config',
  'gather',
  'transcribe',
  'listen',
  'tag',
  'hangup',
  'sip:decline',
])

/** Undefined for a call. */
export function recordingArrival(
  identity: OwnedIdentity,
  invite: Pick<IncomingInvite, 'request' | 'tagContact'>,
): RecordingArrival | undefined {
  if (identity.kind !== 'known' || identity.origin.kind !== 'carrier' || !identity.origin.isRecording)
    return undefined
  invite.tagContact('+sip.srs')
  try {
    return { kind: 'read', parties: recordedParties(invite.request) }
  } catch (error) {
    if (error instanceof AppError) return { kind: 'unreadable', error }
    throw error
  }
}

/** Throws AppError where one who is no carrier wants to be recorded: nothing but the address says who a recording client is. */
export function refuseStrayRecording(request: SipRequest, recording: RecordingArrival | undefined): void {
  if (recording === undefined && requires(request, 'siprec'))
    throw new AppError('no_siprec_application', 'recording sessions are taken from carriers alone')
}

/** Returns what the call hook is sent of it; undefined for a call. Throws AppError siprec_unreadable. */
export function readArrival(recording: RecordingArrival | undefined, leg: Leg): RecordedParties | undefined {
  if (recording === undefined) return undefined
  if (recording.kind === 'unreadable') throw recording.error
  leg.journal.note({ type: 'note', sentence: partiesSentence(recording.parties) })
  return recording.parties
}
