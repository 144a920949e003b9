// An incoming recording session (RFC 7866 §8): the platform is its recording server, and an application listens to it.
import { AppError } from '../../lib/errors.ts'
import type { SipRequest } from '../../sip/message/message.ts'
import { requires } from '../../sip/message/session-expires.ts'
import type { IncomingInvite } from '../../sip/sip.ts'
import { partiesSentence, recordedParties } from '../siprec/recorded-parties.ts'
import type { RecordedParties } from '../siprec/recorded-parties.ts'
import type { Leg } from '../leg/leg.ts'
import type { OwnedIdentity } from './identity.ts'

/** The parties, or the error that prevents reading them: a refused session has a record too. */
export type RecordingArrival =
  | { readonly kind: 'read'; readonly parties: RecordedParties }
  | { readonly kind: 'unreadable'; readonly error: AppError }

/** The verbs of an application for a call that it only listens to. */
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

/** Returns undefined for an ordinary call. */
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

/**
 * Throws AppError if a caller other than a carrier wants to be recorded: recording clients are identified by their
 * address only.
 */
export function refuseStrayRecording(request: SipRequest, recording: RecordingArrival | undefined): void {
  if (recording === undefined && requires(request, 'siprec'))
    throw new AppError('no_siprec_application', 'recording sessions are taken from carriers alone')
}

/** Returns the parties, or undefined for an ordinary call. Throws AppError siprec_unreadable. */
export function readArrival(recording: RecordingArrival | undefined, leg: Leg): RecordedParties | undefined {
  if (recording === undefined) return undefined
  if (recording.kind === 'unreadable') throw recording.error
  leg.journal.note({ type: 'note', sentence: partiesSentence(recording.parties) })
  return recording.parties
}
