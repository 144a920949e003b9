// Early media to a caller whose INVITE has no offer: RFC 3262 §5.
import { describe, expect, it } from 'vitest'
import {
  answer,
  rest,
  runVerbs,
  verb,
  type RunningCall,
} from '../../../test/support/scripted-engine/script.ts'
import { sipRequest } from '../../../test/support/scripted-engine/scripted-messages.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { entryOf } from '../../lib/errors.ts'
import type { RunnableVerb } from '../verb/verb.ts'

const supported = [{ name: 'supported', value: 'timer, 100rel' }]
const early = verb('early', () => undefined, { needs: 'audio', isEarlyMedia: true })
const decline = verb('decline', (can) => can.signalling.decline({ status: 486 }), { needs: 'unanswered' })

const withoutOffer = (verbs: readonly RunnableVerb[], headers = supported): Promise<RunningCall> =>
  runVerbs(verbs, { hasOffer: false, headers })

async function prack({ invite }: RunningCall, sdp: string | undefined): Promise<void> {
  invite.early?.answered?.(sdp)
  await settle()
}

function isOver({ engine }: RunningCall): void {
  expect(engine.store.records).toHaveLength(1)
  expect([engine.calls.liveCount, engine.media.openSessions, engine.clock.pending]).toEqual([0, 0, 0])
}

describe('early media to a caller without an offer that supports 100rel', () => {
  it('begins when its PRACK has answered our offer, and the call can still be declined', async () => {
    const call = await withoutOffer([early, decline])
    expect(call.invite.provisionals).toMatchObject([
      { status: 183, body: { type: 'application/sdp', content: 'v=0 offer' } },
    ])
    expect(call.outcomes()).toEqual([])
    await prack(call, 'v=0')
    expect(call.journalled('media-open')).toHaveLength(1)
    expect(call.outcomes()).toEqual(['early done', 'decline done'])
    expect(call.invite.final).toMatchObject({ status: 486 })
    expect(call.invite.dialog).toBeUndefined()
    expect(call.engine.store.records).toMatchObject([{ answered: false, sip_status: 486, duration: 0 }])
    expect(call.engine.store.statuses).toEqual(['trying', 'early-media', 'failed'])
    isOver(call)
  })

  it('is followed by the answer, whose ACK brings nothing more', async () => {
    const call = await withoutOffer([early, answer, rest])
    await prack(call, 'v=0')
    expect(call.engine.store.statuses).toEqual(['trying', 'early-media', 'in-progress'])
    call.dialog().listener.confirmed(sipRequest('ACK'))
    await settle()
    expect(call.dialog().sentBye).toBeUndefined()
    expect(call.engine.media.sessions).toHaveLength(1)
  })

  it('ends the call where the PRACK brings no answer', async () => {
    const call = await withoutOffer([early, rest])
    await prack(call, undefined)
    expect(call.invite.final).toMatchObject({ status: 488 })
    expect(call.journalled('refusal')).toMatchObject([{ code: 'media_not_acceptable' }])
    isOver(call)
  })

  it('is waited for no longer than the caller waits', async () => {
    const call = await withoutOffer([early, rest])
    call.invite.cancel()
    await settle()
    expect(call.outcomes()).toEqual(['early stopped'])
    isOver(call)
  })
})

describe('early media to a caller without an offer and without 100rel', () => {
  it('is skipped with a problem that says why; nothing is answered, and the next verb runs', async () => {
    const call = await withoutOffer([early, decline], [])
    expect(call.outcomes()).toEqual(['early skipped', 'decline done'])
    const { cure } = entryOf('early_media_unavailable')
    expect(call.journalled('problem')).toMatchObject([{ code: 'early_media_unavailable', cure }])
    expect(call.invite.provisionals).toEqual([])
    expect(call.invite.final).toMatchObject({ status: 486 })
    expect(call.engine.store.statuses).toEqual(['trying', 'failed'])
    isOver(call)
  })

  it('keeps no verb that answers from being heard', async () => {
    const call = await withoutOffer([early, answer, early, rest], [])
    expect(call.outcomes()).toEqual(['early skipped', 'answer done', 'early done'])
  })
})
