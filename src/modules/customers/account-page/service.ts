import type { Caller } from '../../../core/caller.ts'
import { AppError } from '../../../core/errors.ts'
import { escapeHtml } from '../../../lib/markup.ts'
import { passwordLength } from '../../identity/auth/domain.ts'
import { findReset, resetPassword } from '../../identity/password-reset/index.ts'
import { type Look, readAppearance, type WebPage, webPage } from '../../messaging/mail/index.ts'
import type { AccountPageKind } from './domain.ts'
import type { AccountPageDeps, PageAction, PageForm } from './providers.ts'

const createResetAction = (deps: AccountPageDeps): PageAction => ({
  findLink: (token) => findReset(deps, token),
  async act({ token, password }, caller) {
    if (password.length < passwordLength.minLength || password.length > passwordLength.maxLength) return 'refused'
    try {
      await resetPassword(deps, { token, password }, caller)
      return 'done'
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (error.kind === 'INVALID') return 'refused'
      if (error.kind === 'UNAUTHENTICATED') return 'over'
      throw error
    }
  },
})

const actionOf = (deps: AccountPageDeps, kind: AccountPageKind): PageAction | undefined =>
  kind === 'reset' ? createResetAction(deps) : deps.pageActions.get(kind)

/** @throws AppError NOT_FOUND for a kind without a page */
function requireAction(deps: AccountPageDeps, kind: AccountPageKind): PageAction {
  const action = actionOf(deps, kind)
  if (!action) throw new AppError('NOT_FOUND', 'Unknown path')
  return action
}

/**
 * Renders the page of a link, or one that says it is no longer valid. Opening changes nothing, because mail scanners
 * open every link.
 * @throws AppError NOT_FOUND for a kind without a page
 */
export async function openPage(deps: AccountPageDeps, kind: AccountPageKind, token: string): Promise<WebPage> {
  const found = await requireAction(deps, kind).findLink(token)
  if (!found) return renderInvalidLinkPage(deps)
  const { look } = await readAppearance(deps, found.shopId)
  return renderFormPage(look, kind)
}

/** Performs a submitted page. @throws AppError NOT_FOUND for a kind without a page; RATE_LIMITED, UNAVAILABLE */
export async function submitPage(deps: AccountPageDeps, kind: AccountPageKind, form: PageForm, caller: Caller): Promise<WebPage> {
  const action = requireAction(deps, kind)
  const found = await action.findLink(form.token)
  const outcome = await action.act(form, caller)
  if (outcome === 'over' || !found) return renderInvalidLinkPage(deps)
  const { look } = await readAppearance(deps, found.shopId)
  return outcome === 'done' ? renderDonePage(deps, look, kind) : renderFormPage(look, kind, true)
}

async function renderInvalidLinkPage(deps: AccountPageDeps): Promise<WebPage> {
  const { look } = await readAppearance(deps, null)
  const { say } = look.words
  return webPage(look, { title: say.linkOver, body: `<p>${escapeHtml(say.linkOverText)}</p>` })
}

function renderFormPage(look: Look, kind: AccountPageKind, wasRefused = false): WebPage {
  const { say } = look.words
  const field = (name: string, label: string, more: string) =>
    `<label for="${name}">${escapeHtml(label)}</label>\n<input id="${name}" name="${name}" ${more}>`
  const password = (label: string, required: string) =>
    `${field(
      'password',
      label,
      `type="password" minlength="10" maxlength="200" autocomplete="new-password" aria-describedby="rule" ${required}`,
    )}\n<p class="note" id="rule">${escapeHtml(say.passwordRule)}</p>`
  const form = {
    reset: { title: say.resetHeading, fields: [password(say.newPassword, 'required autofocus')], button: say.savePassword },
    verify: {
      title: say.verifyHeading,
      fields: [
        `<p>${escapeHtml(say.verifyText)}</p>`,
        field('password', say.accountPassword, 'type="password" maxlength="200" autocomplete="current-password" required'),
      ],
      button: say.verifyButton,
    },
    invitation: {
      title: say.invitationHeading(look.title),
      fields: [field('name', say.yourName, 'maxlength="200" autocomplete="name"'), password(say.joinPassword, 'required')],
      button: say.invitationButton,
    },
  }[kind]
  const errorText = wasRefused
    ? `<p class="wrong" role="alert">${escapeHtml({ reset: say.passwordRefused, verify: say.wrongPassword, invitation: say.joinRefused }[kind])}</p>\n`
    : ''
  // Without `action` it posts to the page's own URL, so that the token is not in the HTML.
  const body = `${errorText}<form method="post">\n${form.fields.join('\n')}\n<button>${escapeHtml(form.button)}</button>\n</form>`
  return webPage(look, { title: form.title, body, posts: true })
}

function renderDonePage({ config }: AccountPageDeps, look: Look, kind: AccountPageKind): WebPage {
  const { say } = look.words
  const [title, text] = {
    reset: [say.passwordSaved, say.passwordSavedText],
    verify: [say.verified, say.verifiedText],
    invitation: [say.joined, say.joinedText],
  }[kind] as [string, string]
  // Relative, because a proxy may serve souk below a path. Customers log in at their storefront.
  const link =
    kind === 'invitation' && config.consoleEnabled ? `\n<p><a class="go" href="../../console">${escapeHtml(say.logIn)}</a></p>` : ''
  return webPage(look, { title, body: `<p>${escapeHtml(text)}</p>${link}` })
}
