// The check whether a value that must be unique is still free.
import { systemTenancy } from '../contracts/caller.ts'
import type { Repositories } from '../storage/storage.ts'
import { boolean, choice, dialled } from './define/fields.ts'
import { object } from './define/reply-fields.ts'
import { defineRoute, everyone } from './define/route.ts'
import { usersByEmail } from './logins/find-users.ts'

export const availability = defineRoute({
  method: 'GET',
  path: '/Availability',
  access: everyone,
  operationId: 'getAvailability',
  tag: 'Availability',
  summary: 'Whether an address, a phone number or a SIP realm is still free.',
  query: {
    type: choice(['email', 'phone', 'subdomain']).describe('subdomain: a whole SIP realm.'),
    value: dialled({ max: 255 }).describe('The address, number or realm.').example('ann@example.com'),
  },
  reply: {
    status: 200,
    description: 'Whether it is free.',
    component: 'Availability',
    body: object({ available: boolean().describe('It is free.') }),
  },
  async handle({ query: { type, value }, services }) {
    const holders = await countHolders(type, value, services.storage.for(systemTenancy))
    return { available: holders === 0 }
  },
})

async function countHolders(
  type: 'email' | 'phone' | 'subdomain',
  value: string,
  all: Repositories,
): Promise<number> {
  switch (type) {
    case 'email':
      // A plus that a client did not encode is a space here, which no address has.
      return (await usersByEmail(value.replaceAll(' ', '+'), all)).length
    case 'phone':
      return all.users.count({ where: { phone: value } })
    case 'subdomain':
      return all.accounts.count({ where: { sip_realm: value.toLowerCase() } })
  }
}
