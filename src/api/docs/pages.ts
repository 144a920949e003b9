// The pages at /docs, made from the same declarations that run: a start page, verbs, hooks, resources and error codes.
// Each is one file, loads nothing from elsewhere, and is made once, when it is first read. The modules that make them, and
// `marked` with them, are loaded then: a start needs none of it.
import type { HttpPage } from '../../http/route.ts'
import { once } from '../../lib/once.ts'
import type { VerbDescription } from './call-pages.ts'
import { toReference, type Schema } from './document.ts'
import { html } from './html.ts'
import { page, pagePolicy } from './layout.ts'
import type { SettingDescription } from './operation-pages.ts'
import { startPage } from './start-page.ts'

export interface DocsOptions {
  /** The OpenAPI document. */
  readonly document: () => Readonly<Record<string, unknown>>
  readonly verbs: readonly VerbDescription[]
  /** The shapes that several verbs share, by the titles of their schemas. */
  readonly verbShapes: readonly Schema[]
  readonly settings: readonly SettingDescription[]
}

const guides = () => import('./guide-pages.ts')
const calls = () => import('./call-pages.ts')
const operation = () => import('./operation-pages.ts')
const resources = () => import('./resource-pages.ts')
const errors = () => import('./error-pages.ts')
const search = () => import('./search-index.ts')

export function createDocsPages({ document, verbs, verbShapes, settings }: DocsOptions): readonly HttpPage[] {
  const reference = once(() => toReference(document()))
  const htmlPage = (path: string, render: HttpPage['render']): HttpPage => ({
    path,
    policy: pagePolicy,
    absent: absentPage,
    render,
  })
  return [
    htmlPage('/', startPage),
    htmlPage('/docs', startPage),
    htmlPage('/docs/verbs', async () => (await calls()).verbsPage(verbs, verbShapes)),
    htmlPage('/docs/hooks', async () => (await calls()).hooksPage()),
    htmlPage('/docs/websocket', async () => (await guides()).referencePage('websocket')),
    htmlPage('/docs/audio-streams', async () => (await guides()).referencePage('audio-streams')),
    htmlPage('/docs/destinations', async () => (await guides()).referencePage('destinations')),
    htmlPage('/docs/resources', async () => (await resources()).resourceListPage(reference())),
    htmlPage('/docs/resources/:name', async ({ name = '' }) =>
      (await resources()).resourcePage(reference(), name),
    ),
    htmlPage('/docs/guides', async () => (await guides()).guidesPage()),
    htmlPage('/docs/guides/:name', async ({ name = '' }) => (await guides()).guidePage(name)),
    htmlPage('/docs/routing', async () => (await operation()).routingPage()),
    htmlPage('/docs/settings', async () => (await operation()).settingsPage(settings)),
    htmlPage('/docs/errors', async () => (await errors()).errorsPage()),
    htmlPage('/docs/errors/:code', async ({ code = '' }) => (await errors()).errorPage(code)),
    {
      path: '/docs/search.json',
      mediaType: 'application/json; charset=utf-8',
      render: async () => {
        const { searchIndex } = await search()
        return JSON.stringify(searchIndex({ reference: reference(), verbs, verbShapes, settings }))
      },
    },
    htmlPage('/docs/*', () => undefined),
  ]
}

function absentPage(): string {
  return page({
    title: 'No such page',
    content: html`<h1>No such page</h1>
      <p>There is none at this address. Go to the <a href="/docs">start</a>, or search in the menu.</p>`,
  })
}
