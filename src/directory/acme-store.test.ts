import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { onEachStore, type TestStorage } from '../../test/support/each-store.ts'
import { createAcmeStore } from './acme-store.ts'

onEachStore(({ open }) => {
  describe('what is kept of certificates that are ordered', () => {
    let test: TestStorage
    beforeEach(async () => {
      test = await open()
    })
    afterEach(() => test.close())

    it('outlives a restart, sealed, and one node at a time may order', async () => {
      const clock = createFakeClock()
      const nodes = [0, 1, 2].map(() => createAcmeStore({ storage: test.storage, clock }))
      const [first, second] = nodes as [(typeof nodes)[0], (typeof nodes)[0]]
      expect(await first.load()).toEqual({})
      await first.save({ accountKey: 'a-key-of-the-account', failures: 1 })
      await second.save({ failures: 2 })
      expect(await second.load()).toEqual({ accountKey: 'a-key-of-the-account', failures: 2 })

      const until = clock.now() + 1000
      const held = await Promise.all(nodes.map((node) => node.hold(until)))
      expect(held.filter(Boolean)).toHaveLength(1)
      const holder = nodes[held.indexOf(true)] ?? first
      const others = nodes.filter((node) => node !== holder)
      expect(await others[0]?.hold(until)).toBe(false)
      await others[0]?.release()
      expect(await others[1]?.hold(until)).toBe(false)
      // The holder died.
      clock.advance(1000)
      const next = await Promise.all(others.map((node) => node.hold(clock.now() + 1000)))
      expect(next.filter(Boolean)).toHaveLength(1)
      await others[next.indexOf(true)]?.release()
      expect(await holder.hold(clock.now() + 1000)).toBe(true)
      expect(JSON.stringify(await test.contents())).not.toContain('a-key-of-the-account')
      await test.reopen()
      const again = createAcmeStore({ storage: test.storage, clock })
      expect(await again.load()).toMatchObject({ failures: 2 })
    })
  })
})
