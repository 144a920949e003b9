// The requests that the benchmark of the REST interface sends.
import type { ApiData } from './api-data.ts'
import type { Work } from './api-load.ts'

export function createOf({ busy }: ApiData): Work & { readonly body: string } {
  const hook = { url: 'https://app.example.com/call' }
  const application = { name: 'made {n}', account_sid: busy, call_hook: hook, call_status_hook: hook }
  return {
    what: 'POST an application, durable',
    path: '/v1/Applications',
    maxMs: 0.3,
    body: JSON.stringify(application),
  }
}

export function listsOf({ middling }: ApiData): Work[] {
  return [
    { what: 'list of 500 applications', path: `/v1/Accounts/${middling}/Applications`, maxMs: 2.5 },
    { what: 'list of 50 accounts', path: '/v1/Accounts', maxMs: 0.4 },
  ]
}

export function worksOf(data: ApiData, token: string): Work[] {
  const { middling, busy } = data
  const recent = `/v1/Accounts/${busy}/RecentCalls?count=25`
  return [
    { what: 'GET one account, API key', path: `/v1/Accounts/${middling}`, maxMs: 0.07 },
    { what: 'GET one account, login token', path: `/v1/Accounts/${middling}`, maxMs: 0.07, token },
    createOf(data),
    ...listsOf(data).map((list) => ({ ...list, what: `${list.what}, again` })),
    { what: 'RecentCalls of 1,000,000, page 1', path: `${recent}&page=1`, maxMs: 0.5, connections: 8 },
    { what: 'RecentCalls of 1,000,000, page 3,000', path: `${recent}&page=3000`, maxMs: 0.5, connections: 8 },
  ]
}
