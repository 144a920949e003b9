// Our offers that collide with those of the peer, on a clock that the test controls: RFC 3261 §14.
import { describe, expect, it } from 'vitest'
import {
  callIn,
  callOut,
  listenerOf,
  openStage,
  sdp,
  settled,
  type Stage,
} from '../../../test/support/sip-stage.ts'
import { cseqOf } from '../message/cseq.ts'
import type { Reply } from '../message/reply.ts'

const wish = { offer: () => sdp }
/** Returns the number of our INVITEs within the call, without retransmissions. */
const offersOf = (stage: Stage): number =>
  new Set(stage.peer.valuesOf('INVITE', 'cseq').filter((value) => value !== '1 INVITE')).size
const open = (random = 0.5): Promise<Stage> => openStage({ random: () => random })

describe('our offer', () => {
  it('is sent at once when none is open, and resolves with its response', async () => {
    const stage = await open()
    const dialog = await callOut(stage)
    const answer = dialog.reoffer(wish)
    await stage.soon()
    stage.peer.respond('INVITE', 200, { body: sdp.content })
    await stage.soon()
    expect((await settled(answer)).status).toBe(200)
    expect(stage.peer.starts).toEqual(['INVITE', 'ACK', 'INVITE', 'ACK'])
  })

  it.each([
    ['we made the call', 0, 2_100],
    ['we made the call', 0.999, 3_990],
    ['we were called', 0, 0],
    ['we were called', 0.999, 1_990],
  ])(
    'that collides where %s is sent again, by chance %d, after %i ms (RFC 3261 §14.1)',
    async (who, chance, ms) => {
      const stage = await open(chance)
      const dialog = await (who === 'we made the call' ? callOut(stage) : callIn(stage, { cseq: 1 }))
      const first = who === 'we made the call' ? 2 : 1
      const answer = dialog.reoffer(wish)
      await stage.soon()
      stage.peer.respond('INVITE', 491)
      await stage.soon()
      const at = stage.clock.monotonic()
      // The 491 arrived within the 20 ms that passed.
      if (ms > 0) {
        await stage.network.run(ms - 40)
        expect(cseqOf(stage.peer.last('INVITE')).sequence).toBe(first)
      }
      await stage.network.run(60)
      expect(cseqOf(stage.peer.last('INVITE')).sequence).toBe(first + 1)
      expect(stage.clock.monotonic() - at).toBeLessThan(ms + 100)
      stage.peer.respond('INVITE', 200, { body: sdp.content })
      await stage.soon()
      expect((await settled(answer)).status).toBe(200)
    },
  )

  it('waits for the end of the offer of the peer, and asks for its description only then', async () => {
    const stage = await open()
    const dialog = await callIn(stage)
    const held = Promise.withResolvers<Reply>()
    dialog.listen(listenerOf([], { offered: held.promise }))
    stage.peer.send('INVITE', { cseq: 2, body: sdp.content })
    await stage.soon()
    let version = 1
    void dialog.reoffer({ offer: () => ({ ...sdp, content: `v=${version}\r\n` }) })
    await stage.soon()
    version = 2
    held.resolve({ status: 200, body: sdp })
    await stage.soon()
    // The 200 was sent; its ACK has not arrived.
    expect(offersOf(stage)).toBe(0)
    stage.peer.send('ACK', { cseq: 2 })
    await stage.soon()
    expect(Buffer.from(stage.peer.last('INVITE').body).toString()).toBe('v=2\r\n')
  })

  it('waits behind one that is on its way; of two that wait the newer goes out', async () => {
    const stage = await open()
    const dialog = await callOut(stage)
    void dialog.reoffer(wish)
    await stage.soon()
    const older = dialog.reoffer(wish)
    const newer = dialog.reoffer({ ...wish, headers: [{ name: 'x-n', value: 'newer' }] })
    await stage.soon()
    expect((await settled(older)).status).toBe(491)
    expect(offersOf(stage)).toBe(1)
    stage.peer.respond('INVITE', 488)
    await stage.soon()
    expect(stage.peer.valuesOf('INVITE', 'x-n').at(-1)).toBe('newer')
    stage.peer.respond('INVITE', 200, { body: sdp.content })
    await stage.soon()
    expect((await settled(newer)).status).toBe(200)
  })

  it('may be an UPDATE, which waits for no ACK (RFC 3311 §5.1)', async () => {
    const stage = await open()
    stage.peer.send('INVITE', { cseq: 1, body: sdp.content })
    await stage.soon()
    const dialog = stage.invites[0]!.accept({ body: sdp })
    void dialog.reoffer({ ...wish, method: 'UPDATE' })
    await stage.soon()
    expect(stage.peer.starts).toEqual(['200', 'UPDATE'])
  })

  it.each([
    [500, 'Retry-After: 3', 3_000],
    [503, 'Retry-After: 32 (busy);duration=10', 32_000],
  ])('that is answered %i with %s is sent again after it', async (status, line, ms) => {
    const stage = await open()
    const dialog = await callOut(stage)
    void dialog.reoffer(wish)
    await stage.soon()
    stage.peer.respond('INVITE', status, { lines: [line] })
    await stage.soon()
    await stage.network.run(ms - 100)
    expect(offersOf(stage)).toBe(1)
    await stage.network.run(200)
    expect(offersOf(stage)).toBe(2)
  })

  it.each([
    [500, []],
    [503, ['Retry-After: 33']],
    [503, ['Retry-After: soon']],
    [488, ['Retry-After: 1']],
  ])('that is answered %i with %j is not sent again', async (status, lines) => {
    const stage = await open()
    const dialog = await callOut(stage)
    const answer = dialog.reoffer(wish)
    await stage.soon()
    stage.peer.respond('INVITE', status, { lines })
    await stage.soon()
    expect((await settled(answer)).status).toBe(status)
    await stage.pass(40_000)
    expect(offersOf(stage)).toBe(1)
  })

  it.each([
    ['we made the call', 0.999, [3_990, 3_000, undefined, undefined]],
    ['we were called', 0.999, [1_990, 3_000, undefined, undefined]],
  ])('that is sent once may be sent again by the same rules where %s', async (who, chance, delays) => {
    const stage = await open(chance)
    const dialog = await (who === 'we made the call' ? callOut(stage) : callIn(stage, { cseq: 1 }))
    const responses = [
      [491, []],
      [500, ['Retry-After: 3']],
      [503, ['Retry-After: 33']],
      [488, ['Retry-After: 1']],
    ] as const
    const found: (number | undefined)[] = []
    for (const [status, lines] of responses) {
      const answer = dialog.request('INVITE', { body: sdp })
      await stage.soon()
      stage.peer.respond('INVITE', status, { lines: [...lines] })
      await stage.soon()
      found.push(dialog.retryDelayMs(await settled(answer)))
    }
    expect(found).toEqual(delays)
    await stage.pass(40_000)
    expect(offersOf(stage)).toBe(who === 'we made the call' ? 4 : 3)
  })

  it('that collides again and again is given up after five tries', async () => {
    const stage = await open()
    const dialog = await callOut(stage)
    const answer = dialog.reoffer(wish)
    for (let tries = 1; tries <= 5; tries += 1) {
      await stage.soon()
      expect(offersOf(stage)).toBe(tries)
      stage.peer.respond('INVITE', 491)
      await stage.network.run(3_100)
    }
    expect((await settled(answer)).status).toBe(491)
    expect(offersOf(stage)).toBe(5)
  })

  it('that backs off or waits at the end of the call is answered 481, and leaves no timer', async () => {
    const stage = await open()
    const dialog = await callOut(stage)
    const first = dialog.reoffer(wish)
    await stage.soon()
    const second = dialog.reoffer(wish)
    stage.peer.respond('INVITE', 491)
    await stage.soon()
    stage.peer.send('BYE')
    await stage.soon()
    expect((await settled(first)).status).toBe(481)
    expect((await settled(second)).status).toBe(481)
    expect((await settled(dialog.reoffer(wish))).status).toBe(481)
    await stage.pass(64_000)
    expect(stage.isQuiet()).toBe(true)
  })
})
