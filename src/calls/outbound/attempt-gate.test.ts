// The calls that the gate lets through to an address, by the account of the carrier there.
import { describe, expect, it } from 'vitest'
import { AppError } from '../../lib/errors.ts'
import type { Attempt } from './attempt.ts'
import { AttemptGate, type AttemptGateOptions } from './attempt-gate.ts'

type Options = AttemptGateOptions & { readonly needs: { readonly reservesCarriers: boolean } }

const remote = (address: string) => ({ transport: 'udp', address, port: 5060 }) as const
const addresses: Readonly<Record<string, string>> = {
  'sip:gw.example;transport=udp': '192.0.2.7',
  'sip:own.example;transport=udp': '192.0.2.8',
}

/** A gate for account `mine`. gw.example is a gateway of another account that is stored only by its name. */
function gate(changes: Partial<AttemptGateOptions>, reservesCarriers: boolean): AttemptGate {
  const options = {
    ...changes,
    leg: {},
    order: { account: { account_sid: 'mine' } },
    needs: {
      guard: {
        isClosed: async (dialled: string) => dialled.startsWith('+1900'),
        demandOpen: async () => {
          throw new AppError('destination_closed', 'closed')
        },
      },
      reservesCarriers,
      directory: {
        carriersAt: async () => [],
        carrierHops: async () => [
          { hop: 'sip:gone.example;transport=udp', account_sid: 'other' },
          { hop: 'sip:gw.example;transport=udp', account_sid: 'other' },
          { hop: 'sip:own.example;transport=udp', account_sid: 'mine' },
        ],
      },
      sip: () => ({
        resolve: async (hop: string) => {
          const address = addresses[hop]
          if (address === undefined) throw new AppError('sip_unreachable', 'no such name')
          return remote(address)
        },
      }),
    },
  }
  return new AttemptGate(options as unknown as Options)
}

async function call(
  dialled: string,
  address: string,
  reservesCarriers = false,
  changes: Partial<AttemptGateOptions> = {},
): Promise<unknown> {
  const attempt = { trunk: 'sipUri', dialled, destination: async () => remote(address) } as unknown as Attempt
  const [[guarded] = []] = await gate(changes, reservesCarriers).open([[attempt]])
  return await guarded?.destination().then(
    () => 'called',
    (error: unknown) => (error as AppError).code,
  )
}

describe('a SIP URI that leads to a gateway which is known by its host name', () => {
  it.each([
    ['+19005551212', '192.0.2.7', 'destination_closed'],
    ['+19005551212', '192.0.2.8', 'destination_closed'],
    ['+19005551212', '192.0.2.9', 'called'],
    ['+15551234', '192.0.2.7', 'called'],
  ])('%s at %s: %s', async (dialled, address, outcome) => {
    expect(await call(dialled, address)).toBe(outcome)
  })

  it.each([
    ['+15551234', '192.0.2.7', 'carrier_by_number_only'],
    ['+15551234', '192.0.2.8', 'called'],
    ['+19005551212', '192.0.2.8', 'destination_closed'],
    ['+15551234', '192.0.2.9', 'called'],
  ])('%s at %s where the operator keeps carriers to itself: %s', async (dialled, address, outcome) => {
    expect(await call(dialled, address, true)).toBe(outcome)
  })

  it.each(['+15551234', '+19005551212'])(
    '%s: a dry run says the same of a carrier of others as of an address where none is',
    async (dialled) => {
      const untold: string[] = []
      const dry = { isDry: true, onUntold: (address: string) => void untold.push(address) }
      for (const address of ['192.0.2.7', '192.0.2.9'])
        expect(await call(dialled, address, true, dry)).toBe('called')
      expect(untold).toEqual(['192.0.2.7', '192.0.2.9'])
    },
  )

  it('a dry run says of the own carrier what the real call does', async () => {
    expect(await call('+19005551212', '192.0.2.8', true, { isDry: true })).toBe('destination_closed')
    expect(await call('+15551234', '192.0.2.8', true, { isDry: true })).toBe('called')
  })
})
