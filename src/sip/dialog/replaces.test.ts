import { describe, expect, it } from 'vitest'
import { headerOf } from '../message/message.ts'
import { responseTo } from '../message/build.ts'
import { parseMessage } from '../message/parse-message.ts'
import type { SipRequest } from '../message/message.ts'
import { refuseReplaces } from './replaces.ts'
import type { DialogEntry, DialogId } from './dialog-table.ts'

const entry: DialogEntry = { receive: () => undefined, receiveAck: () => undefined, stop: () => undefined }
/** One dialog is there. */
const dialogs = {
  get: ({ callId, localTag, remoteTag }: DialogId) =>
    `${callId} ${localTag} ${remoteTag}` === 'call@x ours theirs' ? entry : undefined,
}

function invite(...replaces: readonly string[]): SipRequest {
  const lines = replaces.map((value) => `Replaces: ${value}\r\n`).join('')
  return parseMessage(Buffer.from(`INVITE sip:a@b SIP/2.0\r\n${lines}\r\n`)) as SipRequest
}

describe('an INVITE with Replaces (RFC 3891 §3)', () => {
  it.each([
    ['of a call that is here', 'call@x;to-tag=ours;from-tag=theirs', 501],
    ['of a call that is here, early or not', 'call@x;from-tag=theirs;to-tag=ours;early-only', 501],
    ['with space around the Call-ID', ' call@x ; to-tag=ours ; from-tag=theirs', 501],
    ['of another call', 'other@x;to-tag=ours;from-tag=theirs', 481],
    ['with the tags the wrong way round', 'call@x;to-tag=theirs;from-tag=ours', 481],
    ['without a to-tag', 'call@x;from-tag=theirs', 481],
    ['without a from-tag', 'call@x;to-tag=ours', 481],
    ['without tags', 'call@x', 481],
    ['that is no value', 'call@x;to-tag="', 481],
  ])('%s is answered %i', (_what, value, status) => {
    const owed = refuseReplaces(invite(value), dialogs)
    expect([owed?.code, owed?.reply.status]).toEqual(['not_served', status])
  })

  it('that names two calls asks for two places at once, and is answered 400', () => {
    const value = 'call@x;to-tag=ours;from-tag=theirs'
    const request = invite(value, value)
    const owed = refuseReplaces(request, dialogs)
    expect(owed?.reply.status).toBe(400)
    const response = responseTo(request, owed?.reply ?? { status: 0 })
    expect(headerOf(response, 'x-reason')).toBe('Replaces stands there twice')
  })

  it('is not one without the field', () => {
    expect(refuseReplaces(invite(), dialogs)).toBeUndefined()
  })
})
