CREATE TABLE `shop_hosts` (
	`shop_id` text NOT NULL,
	`host` text NOT NULL,
	`proof` text NOT NULL,
	`created_at` integer NOT NULL,
	`verified_at` integer,
	`checked_at` integer,
	`missing_since` integer,
	`version` integer NOT NULL,
	PRIMARY KEY(`shop_id`, `host`),
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `shop_hosts_verified` ON `shop_hosts` (`host`) WHERE verified_at is not null;--> statement-breakpoint
CREATE INDEX `shop_hosts_checked` ON `shop_hosts` (`checked_at`) WHERE verified_at is not null;