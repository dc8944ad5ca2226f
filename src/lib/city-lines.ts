type CityAddress = {
  readonly city?: string | null
  readonly province?: string | null
  readonly postalCode?: string | null
  readonly countryCode?: string | null
}

/** Returns city, province and postal code as the lines of an address, in the order of the country's post. */
export function cityLines({ city, province, postalCode, countryCode }: CityAddress): string[] {
  const join = (parts: readonly (string | null | undefined)[], between = ' ') => parts.filter(Boolean).join(between)
  const lines = (): readonly (string | null | undefined)[] => {
    switch (countryCode) {
      case 'US':
      case 'CA':
        return [join([city, join([province, postalCode])], ', ')]
      case 'AU':
        return [join([city, province, postalCode])]
      case 'GB':
      case 'IE':
        return [city, province, postalCode]
      case 'MN':
        return [join([city, postalCode]), province]
      default:
        return [join([postalCode, city]), province]
    }
  }
  return lines().filter((line): line is string => !!line)
}
