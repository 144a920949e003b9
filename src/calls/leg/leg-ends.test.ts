import { describe, expect, it } from 'vitest'
import { sipRequest } from '../../../test/support/scripted-engine/scripted-messages.ts'
import type { SipResponse } from '../../sip/message/message.ts'
import {
  cancelledByCaller,
  givenUpByUs,
  hungUpByFarEnd,
  hungUpByUs,
  reasonInRecord,
  refusedByFarEnd,
  refusedByUs,
} from './leg-ends.ts'

const response = (status: number, reason: string): SipResponse => ({
  kind: 'response',
  status,
  reason,
  headers: [{ name: 'reason', value: 'Q.850 ;cause=17' }],
  body: new Uint8Array(),
})

describe('a call that is hung up', () => {
  it.each([
    ['inbound', 'caller hungup', 'called party hungup'],
    ['outbound', 'called party hungup', 'caller hungup'],
  ] as const)('is recorded by who placed it: %s', (direction, byFarEnd, byUs) => {
    const theirs = hungUpByFarEnd(sipRequest('BYE'), direction)
    expect(theirs).toMatchObject({ termination_reason: byFarEnd, by: 'caller' })
    expect(theirs.change).toMatchObject({ call_status: 'completed', sip_status: 200, sip_reason: 'OK' })
    expect(hungUpByUs(direction)).toMatchObject({ termination_reason: byUs, by: 'jambonz' })
  })

  it('by a limit in time is recorded with that', () => {
    expect(hungUpByUs('inbound', 'media timeout').termination_reason).toBe('media timeout')
  })
})

describe('a call that is not answered', () => {
  it('because its caller gave up is no-answer', () => {
    expect(cancelledByCaller(sipRequest('CANCEL'))).toMatchObject({
      change: { call_status: 'no-answer', sip_status: 487, sip_reason: 'Request Terminated' },
      termination_reason: 'caller abandoned',
      by: 'caller',
    })
  })

  it('because the platform gave it up says so in the words of its direction', () => {
    expect(givenUpByUs({ status: 503 }, 'inbound').termination_reason).toBe('failed')
    expect(givenUpByUs({ status: 487 }, 'outbound').termination_reason).toBe('caller abandoned')
    expect(givenUpByUs({ status: 487 }, 'outbound').change.call_status).toBe('no-answer')
  })

  it.each([
    [486, 'Busy Here', 'busy', 'failed'],
    [600, 'Busy Everywhere', 'busy', 'failed'],
    [603, 'Decline', 'busy', 'failed'],
    [487, 'Request Terminated', 'no-answer', 'caller abandoned'],
    [404, 'Not Found', 'failed', 'failed'],
    [503, 'Service Unavailable', 'failed', 'failed'],
  ])('because the far end said %i %s is %s', (status, reason, call_status, termination_reason) => {
    expect(refusedByFarEnd(response(status, reason))).toEqual({
      change: {
        call_status,
        sip_status: status,
        sip_reason: reason,
        sip_reason_header: 'Q.850;cause=17',
      },
      termination_reason,
      by: 'caller',
    })
  })

  it('because the platform refused it carries the phrase that was sent, or the usual one', () => {
    const own = refusedByUs({ status: 404, reason: 'Number Not Provisioned' })
    expect(own.change).toEqual({
      call_status: 'failed',
      sip_status: 404,
      sip_reason: 'Number Not Provisioned',
    })
    expect(refusedByUs({ status: 480 }).change.sip_reason).toBe('Temporarily Unavailable')
  })

  it('says in its record which media did not fit, and nothing of other refusals', () => {
    const fact = { type: 'refusal', sentence: 'no codec in common', cure: '', sip_status: 488 } as const
    expect(reasonInRecord({ ...fact, code: 'media_not_acceptable' })).toBe('failed: no codec in common')
    expect(reasonInRecord({ ...fact, code: 'account_share' })).toBeUndefined()
  })
})
