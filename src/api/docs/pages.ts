// The pages at /docs: those of docs/guides and docs/reference, and a page for each resource and each error code. Each is one
// file, loads nothing from elsewhere, and is made once, when it is first read. The modules that make them, and `marked`
// with them, are loaded then: a start needs none of it.
import type { HttpPage } from '../../http/route.ts'
import { once } from '../../lib/once.ts'
import { toReference } from './document.ts'
import type { ReferenceName } from './guide-pages.ts'
import { html } from './html.ts'
import { page, pagePolicy } from './layout.ts'
import { startPage } from './start-page.ts'

/** The files of docs/reference that are pages as they are. Resources and error codes have a page each. */
const pagesOfReference: readonly ReferenceName[] = [
  'audio-streams',
  'destinations',
  'hooks',
  'routing',
  'settings',
  'verbs',
  'websocket',
]

const guides = () => import('./guide-pages.ts')
const resources = () => import('./resource-pages.ts')
const errors = () => import('./error-pages.ts')
const search = () => import('./search-index.ts')

/** `document` returns the OpenAPI document. */
export function createDocsPages(document: () => Readonly<Record<string, unknown>>): readonly HttpPage[] {
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
    ...pagesOfReference.map((name) =>
      htmlPage(`/docs/${name}`, async () => (await guides()).referencePage(name)),
    ),
    htmlPage('/docs/resources', async () => (await resources()).resourceListPage(reference())),
    htmlPage('/docs/resources/:name', async ({ name = '' }) =>
      (await resources()).resourcePage(reference(), name),
    ),
    htmlPage('/docs/guides', async () => (await guides()).guidesPage()),
    htmlPage('/docs/guides/:name', async ({ name = '' }) => (await guides()).guidePage(name)),
    htmlPage('/docs/errors', async () => (await errors()).errorsPage()),
    htmlPage('/docs/errors/:code', async ({ code = '' }) => (await errors()).errorPage(code)),
    {
      path: '/docs/search.json',
      mediaType: 'application/json; charset=utf-8',
      render: async () => JSON.stringify((await search()).searchIndex(reference())),
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
