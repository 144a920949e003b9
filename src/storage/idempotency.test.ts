import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemTenancy } from '../contracts/caller.ts'
import type { OnceRequest, UnitStorage } from './idempotency.ts'
import type { Actor } from './rows/rows.ts'
import { onEachStore, type TestStorage } from '../../test/support/each-store.ts'

const actor: Actor = { principal: undefined, request_id: 'r', address: '127.0.0.1' }

onEachStore(({ open }) => {
  let test: TestStorage
  beforeEach(async () => {
    test = await open()
  })
  afterEach(() => test.close())

  const asked = (more: Partial<OnceRequest> = {}): OnceRequest => ({
    principal: 'api_key:1',
    key: 'k1',
    route: 'POST /x',
    fingerprint: 'f',
    ...more,
  })
  const provider = (name: string) => async (unit: UnitStorage) => {
    await unit.for(systemTenancy).service_providers.insert({ name })
    return { status: 201, body: { made: name, secret: 'planted-secret' } }
  }
  const providers = async (): Promise<string[]> =>
    (await test.storage.for(systemTenancy).service_providers.list({ orderBy: ['name'] })).map(
      ({ name }) => name,
    )

  describe('a request that is made once', () => {
    it('commits what it changes and its answer together, the answer sealed', async () => {
      const answer = await test.storage.idempotency.once(asked(), actor, provider('a'))
      expect(await test.storage.idempotency.find(asked())).toEqual({
        route: 'POST /x',
        fingerprint: 'f',
        ...answer,
      })
      expect(await providers()).toEqual(['a'])
      expect(await test.contents()).not.toContain('planted-secret')
    })

    it('reads what it has changed, in one transaction over many calls, which no other reader sees before its end', async () => {
      await test.storage.idempotency.once(asked(), actor, async (unit) => {
        const { service_providers } = unit.for(systemTenancy)
        expect(await service_providers.count()).toBe(0)
        await service_providers.insert({ name: 'a' })
        await unit.transaction(systemTenancy, async (rows) => {
          expect(await rows.service_providers.count()).toBe(1)
          await rows.service_providers.insert({ name: 'b' })
        })
        expect(await service_providers.count()).toBe(2)
        expect(await providers()).toEqual([])
        return { status: 201, body: null }
      })
      expect(await providers()).toEqual(['a', 'b'])
    })

    it('leaves nothing when it fails, even where the failure was caught', async () => {
      const half = test.storage.idempotency.once(asked(), actor, async (unit) => {
        await provider('a')(unit)
        throw new Error('changed my mind')
      })
      await expect(half).rejects.toThrow('changed my mind')
      const swallowed = test.storage.idempotency.once(asked(), actor, async (unit) => {
        await provider('a')(unit)
        await unit
          .transaction(systemTenancy, async () => Promise.reject(new Error('deep inside')))
          .catch(() => undefined)
        return { status: 201, body: null }
      })
      await expect(swallowed).rejects.toThrow('deep inside')
      expect(await providers()).toEqual([])
      expect(await test.storage.idempotency.find(asked())).toBeUndefined()
    })

    it('is undone immediately when something fails: repairs then see what is stored and may write', async () => {
      const { service_providers } = test.storage.for(systemTenancy)
      await service_providers.insert({ name: 'taken' })
      const failed = test.storage.idempotency.once(asked(), actor, async (unit) => {
        const rows = unit.for(systemTenancy).service_providers
        await rows.insert({ name: 'a' })
        try {
          return await provider('taken')(unit)
        } finally {
          expect((await rows.list()).map(({ name }) => name)).toEqual(['taken'])
          await service_providers.insert({ name: 'right again' })
          await expect(rows.insert({ name: 'b' })).rejects.toMatchObject({ code: 'duplicate' })
        }
      })
      await expect(failed).rejects.toMatchObject({ code: 'duplicate' })
      expect(await providers()).toEqual(['right again', 'taken'])
    })

    it('is undone when another one was answered meanwhile', async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          test.storage.idempotency.once(asked(), actor, provider(`by ${n}`)),
        ),
      )
      expect(outcomes.filter((answer) => answer !== undefined)).toHaveLength(1)
      expect(await providers()).toHaveLength(1)
    })

    it('keeps an answer although nothing was changed, one without a body too', async () => {
      await test.storage.idempotency.once(asked(), actor, async () => ({ status: 204, body: undefined }))
      expect(await test.storage.idempotency.find(asked())).toMatchObject({ status: 204, body: undefined })
      await test.reopen()
      expect(await test.storage.idempotency.find(asked())).toMatchObject({ status: 204 })
    })

    it('lets others write after it, whatever its outcome', async () => {
      await test.storage.idempotency
        .once(asked(), actor, () => Promise.reject(new Error('no')))
        .catch(() => undefined)
      await test.storage.for(systemTenancy).service_providers.insert({ name: 'after' })
      expect(await providers()).toEqual(['after'])
    })
  })
})
