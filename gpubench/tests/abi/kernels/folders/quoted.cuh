#pragma once
#define FROM_A_FOLDER
