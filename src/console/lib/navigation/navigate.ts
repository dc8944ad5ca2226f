/** Goes to an address of the console as a link does: what was typed on the page is asked about first. */
export function navigate(href: string): void {
  const link = document.createElement('a')
  link.href = href
  document.body.append(link)
  link.click()
  link.remove()
}
