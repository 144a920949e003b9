// The cache of spoken clips: how many there are, and how to be rid of them.
import { whole } from './define/described.ts'
import { defineRoute, everyone } from './define/route.ts'

const sizeReply = {
  status: 200,
  description: 'How many clips are kept.',
  component: 'TtsCacheSize',
  schema: { type: 'object', properties: { size: whole('How many clips.') }, required: ['size'] },
} as const
const clearedReply = { status: 204, description: 'Removed; what is being played stays.' } as const

const getSize = defineRoute({
  method: 'GET',
  path: '/TtsCache',
  access: ['admin'],
  operationId: 'getTtsCacheSize',
  tag: 'TtsCache',
  summary: 'How many spoken clips the platform keeps.',
  reply: sizeReply,
  handle: async ({ services }) => ({ size: await services.speechCache.size() }),
})

const clear = defineRoute({
  method: 'DELETE',
  path: '/TtsCache',
  access: ['admin'],
  operationId: 'clearTtsCache',
  tag: 'TtsCache',
  summary: 'Removes all spoken clips.',
  reply: clearedReply,
  handle: ({ services }) => services.speechCache.clear(),
})

const getSizeOfAccount = defineRoute({
  method: 'GET',
  path: '/Accounts/{AccountSid}/TtsCache',
  access: everyone,
  operationId: 'getTtsCacheSizeOfAccount',
  tag: 'TtsCache',
  summary: 'How many of the kept clips an account has asked for since the platform started.',
  reply: sizeReply,
  handle: async ({ account, services }) => ({ size: await services.speechCache.size(account.account_sid) }),
})

const clearOfAccount = defineRoute({
  method: 'DELETE',
  path: '/Accounts/{AccountSid}/TtsCache',
  access: everyone,
  operationId: 'clearTtsCacheOfAccount',
  tag: 'TtsCache',
  summary: 'Removes the clips that nobody but this account has asked for.',
  reply: clearedReply,
  handle: ({ account, services }) => services.speechCache.clear(account.account_sid),
})

export const ttsCacheRoutes = [getSize, clear, getSizeOfAccount, clearOfAccount]
