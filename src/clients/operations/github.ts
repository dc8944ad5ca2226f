/** Deploys of repositories, as GitHub's deployments tell them, with the change that each shipped. */
import { createCache } from '../../core/cache.ts'
import { type Deploy, type Provider, ProviderError, type SourceChange } from '../../core/operations.ts'
import { plainText } from '../../lib/plain-text.ts'
import { type Answered, type Calling, createAsk, instantAt, listAt, needed, nextPage, numberAt, plainAt, textAt, valueAt } from './calls.ts'

export type GithubAccount = {
  readonly apiUrl: string
  readonly token: string
  /** As `owner/name`. */
  readonly repositories: readonly string[]
  readonly environment: string
}

const pagesMax = 3
const deploymentsAtOnce = 10
const statusesAtOnce = 100
/** Answers that are asked after again by their tag: what has not changed counts for nothing there. */
const keptMax = 200
const keptMaxBytes = 16 * 1024 * 1024
const shaPattern = /^[0-9a-f]{7,64}$/

type AskGithub = (path: string, query: Readonly<Record<string, string>>, takes?: readonly number[]) => Promise<Answered>

/** @param account whose token may read deployments, contents and pull requests */
export function createGithub(account: GithubAccount, calling: Calling): Provider<Deploy> {
  const { apiUrl, token, repositories, environment } = account
  const kept = createCache<{ tag: string; answer: Answered }>({
    version: () => 0,
    entriesMax: keptMax,
    charactersMax: keptMaxBytes,
    charactersOf: ({ answer }) => Math.max(1, answer.bytes),
  })

  function asking(): AskGithub {
    const ask = createAsk(calling)
    return async (path, query, takes = [200]) => {
      const url = `${apiUrl}${path}?${new URLSearchParams(query)}`
      const known = kept.get(url)
      const answer = await ask(url, {
        headers: {
          accept: 'application/vnd.github+json',
          'x-github-api-version': '2022-11-28',
          authorization: `Bearer ${token}`,
          ...(known ? { 'if-none-match': known.tag } : {}),
        },
        takes: known ? [...takes, 304] : takes,
      })
      if (answer.status === 304 && known) return known.answer
      const tag = answer.headers.get('etag')
      if (tag !== null && answer.status === 200) kept.keep(url, { tag, answer })
      return answer
    }
  }

  return {
    name: 'github',
    source: `github ${apiUrl} ${repositories.join()} ${environment}`,
    async ask() {
      const ask = asking()
      const deploys = await Promise.all(repositories.map((repository) => latestOf(ask, repository, environment)))
      return deploys.filter((deploy) => deploy !== undefined)
    },
  }
}

/** The latest deployment that has succeeded, whatever came after it; undefined where none of the last thirty has. */
async function latestOf(ask: AskGithub, repository: string, environment: string): Promise<Deploy | undefined> {
  const base = `/repos/${repository}`
  for (let page: string | undefined = '1', pages = 0; page !== undefined && pages < pagesMax; pages++) {
    const answer: Answered = await ask(`${base}/deployments`, { environment, per_page: String(deploymentsAtOnce), page })
    for (const deployment of listAt(answer.json)) {
      const deployedAt = await succeededAt(ask, base, numberAt(deployment, 'id'))
      if (deployedAt === undefined) continue
      const sha = needed(shaAt(deployment, 'sha'), 'no sha')
      const change = await changeOf(ask, base, sha)
      return { service: repository, environment: plainAt(deployment, 'environment'), revision: sha, deployedAt, change }
    }
    page = nextPage(answer.headers)?.get('page') ?? undefined
  }
  return undefined
}

/** When a deployment succeeded: the first time that it did. Those that another one took the place of are `inactive` later. */
async function succeededAt(ask: AskGithub, base: string, id: number): Promise<string | undefined> {
  const { json } = await ask(`${base}/deployments/${id}/statuses`, { per_page: String(statusesAtOnce) })
  // The latest comes first.
  const succeeded = listAt(json).findLast((status) => textAt(status, 'state') === 'success')
  return succeeded === undefined ? undefined : instantAt(succeeded, 'created_at')
}

/** The pull request that brought a commit, else the commit itself; null of one that is not there any more. */
async function changeOf(ask: AskGithub, base: string, sha: string): Promise<SourceChange | null> {
  // 409 of an empty repository, 422 of a commit that there is not.
  const pulls = await ask(`${base}/commits/${sha}/pulls`, { per_page: '10' }, [200, 404, 409, 422])
  const pull = pulls.status === 200 ? listAt(pulls.json).find((one) => textAt(one, 'merged_at') !== undefined) : undefined
  if (pull !== undefined)
    return { sha, title: plainAt(pull, 'title'), author: authorOf(textAt(pull, 'user', 'login')), url: urlAt(pull, 'html_url') }
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

/** Accounts that were deleted have no name. */
const authorOf = (name: string | undefined): string => plainText(name ?? '', 100) || 'unknown'
const shaAt = (json: unknown, name: string): string | undefined => {
  const sha = valueAt(json, name)
  return typeof sha === 'string' && shaPattern.test(sha) ? sha : undefined
}
/** A page that somebody may be led to. */
function urlAt(json: unknown, name: string): string {
  const url = URL.parse(textAt(json, name) ?? '')
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.href.length > 2_000)
    throw new ProviderError(`the answer makes no sense: no ${name}`)
  return url.href
}
