CREATE TABLE `kpi_days` (
	`kpi` text NOT NULL,
	`span` integer NOT NULL,
	`day` integer NOT NULL,
	`key` text NOT NULL,
	`value` integer NOT NULL,
	PRIMARY KEY(`kpi`, `span`, `day`, `key`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `kpi_deltas` (
	`kpi` text NOT NULL,
	`day` integer NOT NULL,
	`id` text NOT NULL,
	`key` text NOT NULL,
	`value` integer NOT NULL,
	PRIMARY KEY(`kpi`, `day`, `id`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `kpi_state` (
	`id` integer PRIMARY KEY NOT NULL,
	`filled_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
ALTER TABLE `products` ADD `created_as` text DEFAULT 'DRAFT' NOT NULL;--> statement-breakpoint
CREATE INDEX `products_created` ON `products` (`created_at`);--> statement-breakpoint
CREATE INDEX `customers_created` ON `customers` (`created_at`);--> statement-breakpoint
CREATE INDEX `orders_confirmed` ON `orders` (`confirmed_at`) WHERE confirmed_at is not null;--> statement-breakpoint
CREATE INDEX `shops_verified` ON `shops` (`verified_at`) WHERE verified_at is not null;--> statement-breakpoint
CREATE INDEX `users_created` ON `users` (`created_at`);--> statement-breakpoint
UPDATE products SET created_as = status;
