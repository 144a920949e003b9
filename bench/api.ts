// The cost of requests to the REST interface: CPU of the main thread per request, compared with a bare node:http
// server that returns the same bytes on the same core; and the effect of large responses and logins on other requests.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  adminApiKey,
  adminPassword,
  startPlatform,
  unlimited,
  type Platform,
} from '../test/support/platform-process.ts'
import { freePorts } from '../test/support/ports.ts'
import type { ToolProcess } from '../test/support/processes.ts'
import { fillApiData, type ApiData } from './api-data.ts'
import { load, pinned, serverCore, type Load, type Work } from './api-load.ts'
import { createOf, listsOf, worksOf } from './api-works.ts'
import { median, type Figure } from './figure.ts'
import { residentMb } from './proc.ts'

export const apiParts = ['requests', 'lists', 'pages', 'logins', 'long-list', 'memory'] as const

/** Measures only the given parts, or all of them if none are given. */
export async function measureApi({
  seconds = 3,
  records = 1_000_000,
  parts = apiParts as readonly string[],
} = {}): Promise<Figure[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'switchhook-bench-'))
  const data = await fillApiData(dataDir, records)
  const platform = await startPlatform({
    dataDir,
    core: serverCore,
    env: { SWITCHHOOK_LOG_LEVEL: 'warn', ...unlimited },
  })
  try {
    const token = await logIn(platform)
    const measures: { readonly [P in (typeof apiParts)[number]]: () => Promise<Figure[]> } = {
      requests: async () => {
        const figures: Figure[] = []
        for (const work of worksOf(data, token)) figures.push(await measureWork(platform, work, seconds))
        return figures
      },
      lists: () => measureAnew(platform, data, seconds),
      pages: () => measurePages(platform, data),
      logins: async () => [await measureLogins(platform, data), await measureBusyLogins(platform, data)],
      'long-list': () => measureLargeList(platform, data),
      memory: async () => [await measureMemory(platform, data)],
    }
    const figures: Figure[] = []
    for (const part of apiParts) if (parts.includes(part)) figures.push(...(await measures[part]()))
    return figures
  } finally {
    await platform.remove()
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function measureWork(platform: Platform, work: Work, seconds: number): Promise<Figure> {
  const sample = await sampleOf(platform, work)
  const bare = await startBare(sample)
  try {
    await load(platform.pid, platform.httpPort, work, 1)
    await load(bare.process.pid, bare.port, work, 1)
    const ours = await load(platform.pid, platform.httpPort, work, seconds)
    const theirs = await load(bare.process.pid, bare.port, work, seconds)
    return {
      what: work.what,
      target: `at most ${work.maxMs} ms`,
      figure:
        `${ours.mainMs.toFixed(3)} ms main thread (${ours.allMs.toFixed(3)} all); bare ${theirs.mainMs.toFixed(3)}, ` +
        `ratio ${(theirs.mainMs / ours.mainMs).toFixed(2)}; ${ours.perSecond.toFixed(0)}/s${ours.refused > 0 ? `; ${ours.refused} REFUSED` : ''}`,
      isMet: ours.mainMs <= work.maxMs && ours.refused === 0,
    }
  } finally {
    await bare.process.stop()
  }
}

/**
 * Measures lists that are built again: short lists are served from memory until a row changes, and here a row is
 * inserted between any two lists. The cost of that insertion is measured separately, before and after, and subtracted.
 */
async function measureAnew(platform: Platform, data: ApiData, seconds: number): Promise<Figure[]> {
  const change = { ...createOf(data), connections: 1 }
  const costOf = (work: Work): Promise<Load> => load(platform.pid, platform.httpPort, work, seconds)
  const figures: Figure[] = []
  await costOf(change)
  for (const { what, path, maxMs } of listsOf(data)) {
    const before = await costOf(change)
    const both = await costOf({ ...change, then: path })
    const after = await costOf(change)
    const changeMs = (before.mainMs + after.mainMs) / 2
    // Every second request was for the list.
    const listMs = 2 * both.mainMs - changeMs
    const refused = before.refused + both.refused + after.refused
    figures.push({
      what: `${what}, made anew`,
      target: `at most ${maxMs} ms`,
      figure:
        `${listMs.toFixed(3)} ms main thread; the change between two lists, ${changeMs.toFixed(3)} ms, left out` +
        (refused > 0 ? `; ${refused} REFUSED` : ''),
      isMet: listMs <= maxMs && refused === 0,
    })
  }
  return figures
}

async function sampleOf(
  platform: Platform,
  { path, body }: Work,
): Promise<{ headers: object; body: string }> {
  const sent = body === undefined ? undefined : (JSON.parse(body.replaceAll('{n}', 'sample')) as unknown)
  const answer = await platform.api.call(body === undefined ? 'GET' : 'POST', path.slice('/v1'.length), sent)
  const kept = [...answer.headers].filter(
    ([name]) => !['connection', 'date', 'keep-alive', 'transfer-encoding', 'content-length'].includes(name),
  )
  const length = String(Buffer.byteLength(answer.text))
  return { headers: { ...Object.fromEntries(kept), 'content-length': length }, body: answer.text }
}

async function startBare(sample: {
  headers: object
  body: string
}): Promise<{ process: ToolProcess; port: number }> {
  const port = await freePorts(1)
  const file = join(await mkdtemp(join(tmpdir(), 'switchhook-bare-')), 'sample.json')
  await writeFile(file, JSON.stringify({ port, ...sample }))
  const child = pinned('http-bare.ts', [`@${file}`], serverCore)
  await child.lines.next('the bare server', (line) => line === 'ready')
  return { process: child, port }
}

async function logIn({ api }: Platform): Promise<string> {
  const body = { username: 'admin', password: adminPassword }
  return (await api.must<{ token: string }>('POST', '/login', body)).token
}

/** Measures the time until a page arrives, for a single client. */
async function measurePages(platform: Platform, { busy }: ApiData): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const page of [1, 100, 3000]) {
    const times: number[] = []
    for (let round = 0; round < 30; round += 1)
      times.push(await timed(platform, `/v1/Accounts/${busy}/RecentCalls?page=${page}&count=25`))
    const p50 = median(times.slice(5))
    figures.push({
      what: `RecentCalls page ${page}, lone client, p50`,
      target: 'under 5 ms',
      figure: `${p50.toFixed(1)} ms`,
      isMet: p50 < 5,
    })
  }
  return figures
}

const agent = new http.Agent({ keepAlive: true })

function timed({ httpPort }: Platform, path: string, body?: object): Promise<number> {
  const startedAt = performance.now()
  return new Promise((resolve, reject) => {
    const request = http.request(
      {
        agent,
        host: '127.0.0.1',
        port: httpPort,
        path,
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${adminApiKey}`, 'content-type': 'application/json' },
      },
      (response) => {
        response.resume()
        response.on('end', () => resolve(performance.now() - startedAt))
        response.on('error', reject)
      },
    )
    request.on('error', reject)
    request.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/** Returns the time of the slowest small request while `work` runs. */
async function slowestBeside(
  platform: Platform,
  path: string,
  work: () => Promise<unknown>,
): Promise<number> {
  let isOver = false
  let slowestMs = 0
  const probing = (async () => {
    while (!isOver) slowestMs = Math.max(slowestMs, await timed(platform, path))
  })()
  await work()
  isOver = true
  await probing
  return slowestMs
}

async function measureLogins(platform: Platform, { middling }: ApiData): Promise<Figure> {
  const body = { username: 'admin', password: adminPassword }
  const slowestMs = await slowestBeside(platform, `/v1/Accounts/${middling}`, async () => {
    for (let round = 0; round < 20; round += 1) await timed(platform, '/v1/login', body)
  })
  return {
    what: 'slowest GET while somebody logs in, 20 times',
    target: 'at most 20 ms',
    figure: `${slowestMs.toFixed(1)} ms (server pinned to one core, which the hashing thread shares)`,
    isMet: slowestMs <= 20,
  }
}

/** Measures how long a login takes while the core is fully loaded. */
async function measureBusyLogins(platform: Platform, { middling }: ApiData): Promise<Figure> {
  const body = { username: 'admin', password: adminPassword }
  const work = { what: 'load', path: `/v1/Accounts/${middling}`, maxMs: 0 }
  const times: number[] = []
  let isOver = false
  const loading = load(platform.pid, platform.httpPort, work, 5).finally(() => {
    isOver = true
  })
  while (!isOver) times.push(await timed(platform, '/v1/login', body))
  await loading
  // The first and the last login overlapped the load only in part.
  const met = times.slice(1, -1)
  return {
    what: 'a login while 64 connections read one record, p50, slowest',
    target: '-',
    figure: `${median(met).toFixed(0)} ms, ${Math.max(...met).toFixed(0)} ms`,
  }
}

async function measureLargeList(platform: Platform, { middling, large }: ApiData): Promise<Figure[]> {
  const beforeMb = residentMb(platform.pid)
  let peakMb = beforeMb
  const watch = setInterval(() => {
    peakMb = Math.max(peakMb, residentMb(platform.pid))
  }, 20)
  let listMs = 0
  const slowestMs = await slowestBeside(platform, `/v1/Accounts/${middling}`, async () => {
    for (let round = 0; round < 3; round += 1)
      listMs = await timed(platform, `/v1/Accounts/${large}/Applications`)
  })
  clearInterval(watch)
  return [
    {
      what: 'slowest GET while 30,000 applications are listed',
      target: 'at most 50 ms',
      figure: `${slowestMs.toFixed(1)} ms (the list took ${listMs.toFixed(0)} ms)`,
      isMet: slowestMs <= 50,
    },
    {
      what: 'resident memory while 30,000 applications are listed',
      target: 'not doubled',
      figure: `${beforeMb.toFixed(0)} MB to ${peakMb.toFixed(0)} MB`,
      isMet: peakMb < 2 * beforeMb,
    },
  ]
}

async function measureMemory(platform: Platform, data: ApiData): Promise<Figure> {
  const mix = worksOf(data, adminApiKey).filter(({ what }) => !what.includes('500'))
  let completed = 0
  while (completed < 100_000) {
    for (const work of mix) completed += (await load(platform.pid, platform.httpPort, work, 1)).completed
  }
  const memoryMb = residentMb(platform.pid)
  return {
    what: 'resident memory after 100,000 mixed requests',
    target: 'under 250 MB',
    figure: `${memoryMb.toFixed(0)} MB after ${completed}`,
    isMet: memoryMb < 250,
  }
}
