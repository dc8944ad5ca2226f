/** Reads GitHub deployments and the changes that they shipped. */
import { createCache } from '../../core/cache.ts'
import { type Deploy, type Provider, ProviderError, type SourceChange } from '../../core/operations.ts'
import { plainText } from '../../lib/plain-text.ts'
import {
  createAsk,
  displayTextAt,
  instantAt,
  listAt,
  nextPage,
  numberAt,
  type ProviderPort,
  type ProviderResponse,
  requireValue,
  textAt,
  valueAt,
} from './calls.ts'

type GithubAccount = {
  readonly apiUrl: string
  readonly token: string
  /** As `owner/name`. */
  readonly repositories: readonly string[]
  readonly environment: string
}

const pagesMax = 3
const deploymentsPerPage = 10
const statusesPerPage = 100
/** Cached responses are revalidated by their tag; unchanged ones do not count against the rate limit. */
const cacheEntriesMax = 200
const cacheBytesMax = 16 * 1024 * 1024
const shaPattern = /^[0-9a-f]{7,64}$/

type AskGithub = (path: string, query: Readonly<Record<string, string>>, takes?: readonly number[]) => Promise<ProviderResponse>

/**
 * Creates the provider for a GitHub repository.
 * @param account its token needs read access to deployments, contents and pull requests
 */
export function createGithub(account: GithubAccount, calling: ProviderPort): Provider<Deploy> {
  const { apiUrl, token, repositories, environment } = account
  const responseCache = createCache<{ tag: string; answer: ProviderResponse }>({
    version: () => 0,
    entriesMax: cacheEntriesMax,
    charactersMax: cacheBytesMax,
    charactersOf: ({ answer }) => Math.max(1, answer.bytes),
  })

  function createGithubAsk(): AskGithub {
    const ask = createAsk(calling)
    return async (path, query, takes = [200]) => {
      const url = `${apiUrl}${path}?${new URLSearchParams(query)}`
      const cached = responseCache.get(url)
      const answer = await ask(url, {
        headers: {
          accept: 'application/vnd.github+json',
          'x-github-api-version': '2022-11-28',
          authorization: `Bearer ${token}`,
          ...(cached ? { 'if-none-match': cached.tag } : {}),
        },
        takes: cached ? [...takes, 304] : takes,
      })
      if (answer.status === 304 && cached) return cached.answer
      const tag = answer.headers.get('etag')
      if (tag !== null && answer.status === 200) responseCache.set(url, { tag, answer })
      return answer
    }
  }

  return {
    name: 'github',
    source: `github ${apiUrl} ${repositories.join()} ${environment}`,
    async ask() {
      const ask = createGithubAsk()
      const deploys = await Promise.all(repositories.map((repository) => latestOf(ask, repository, environment)))
      return deploys.filter((deploy) => deploy !== undefined)
    },
  }
}

/** Returns the latest successful deployment; undefined if none of the last thirty succeeded. */
async function latestOf(ask: AskGithub, repository: string, environment: string): Promise<Deploy | undefined> {
  const base = `/repos/${repository}`
  for (let page: string | undefined = '1', pages = 0; page !== undefined && pages < pagesMax; pages++) {
    const answer: ProviderResponse = await ask(`${base}/deployments`, { environment, per_page: String(deploymentsPerPage), page })
    for (const deployment of listAt(answer.json)) {
      const deployedAt = await succeededAt(ask, base, numberAt(deployment, 'id'))
      if (deployedAt === undefined) continue
      const sha = requireValue(shaAt(deployment, 'sha'), 'no sha')
      const change = await changeOf(ask, base, sha)
      return { service: repository, environment: displayTextAt(deployment, 'environment'), revision: sha, deployedAt, change }
    }
    page = nextPage(answer.headers)?.get('page') ?? undefined
  }
  return undefined
}

/** Returns when a deployment first succeeded. Replaced deployments become `inactive` later. */
async function succeededAt(ask: AskGithub, base: string, id: number): Promise<string | undefined> {
  const { json } = await ask(`${base}/deployments/${id}/statuses`, { per_page: String(statusesPerPage) })
  // Newest first.
  const succeeded = listAt(json).findLast((status) => textAt(status, 'state') === 'success')
  return succeeded === undefined ? undefined : instantAt(succeeded, 'created_at')
}

/** Returns the pull request of a commit, otherwise the commit; null if it no longer exists. */
async function changeOf(ask: AskGithub, base: string, sha: string): Promise<SourceChange | null> {
  // 409 for an empty repository, 422 for an unknown commit.
  const pulls = await ask(`${base}/commits/${sha}/pulls`, { per_page: '10' }, [200, 404, 409, 422])
  const pull = pulls.status === 200 ? listAt(pulls.json).find((candidate) => textAt(candidate, 'merged_at') !== undefined) : undefined
  if (pull !== undefined)
    return { sha, title: displayTextAt(pull, 'title'), author: authorOf(textAt(pull, 'user', 'login')), url: urlAt(pull, 'html_url') }
  const commit = await ask(`${base}/commits/${sha}`, { per_page: '1' }, [200, 404, 409, 422])
  if (commit.status !== 200) return null
  const { json } = commit
  const [title = ''] = (textAt(json, 'commit', 'message') ?? '').split('\n')
  return {
    sha,
    title: plainText(title, 200),
    author: authorOf(textAt(json, 'author', 'login') ?? textAt(json, 'commit', 'author', 'name')),
    url: urlAt(json, 'html_url'),
  }
}

/** Deleted accounts have no name. */
const authorOf = (name: string | undefined): string => plainText(name ?? '', 100) || 'unknown'
const shaAt = (json: unknown, name: string): string | undefined => {
  const sha = valueAt(json, name)
  return typeof sha === 'string' && shaPattern.test(sha) ? sha : undefined
}
/** Requires a URL that is safe to link to. */
function urlAt(json: unknown, name: string): string {
  const url = URL.parse(textAt(json, name) ?? '')
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.href.length > 2_000)
    throw new ProviderError(`the answer makes no sense: no ${name}`)
  return url.href
}
