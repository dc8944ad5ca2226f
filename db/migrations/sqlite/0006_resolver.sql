CREATE TABLE `partnership_lists` (
	`id` text PRIMARY KEY NOT NULL,
	`version` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `partnership_shops` (
	`shop_id` text PRIMARY KEY NOT NULL,
	`partnership` text NOT NULL,
	`position` integer NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`partnership`) REFERENCES `partnerships`(`name`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `partnership_shops_partnership` ON `partnership_shops` (`partnership`);--> statement-breakpoint
CREATE TABLE `partnerships` (
	`name` text PRIMARY KEY NOT NULL,
	`default_card_processor` text NOT NULL,
	`position` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `payment_methods` (
	`shop_id` text PRIMARY KEY NOT NULL,
	`methods` text NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `processor_isolations` (
	`processor` text PRIMARY KEY NOT NULL,
	`isolated_at` integer NOT NULL,
	`actor` text NOT NULL
) STRICT;
